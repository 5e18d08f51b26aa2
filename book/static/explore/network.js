// Networks of course_lib in the page. tools/explorer_weights.py writes a model's layers and weights into a classic script,
// which enters them in Explore.weights; what is computed here is in double precision, from weights in half.
(() => {
  const Explore = globalThis.Explore ??= {};

  // A number from its 16 bits: sign, five of the exponent, ten of the fraction.
  const half = bits => {
    const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
  };
  const numbers = base64 => {
    const bytes = atob(base64);
    return Float32Array.from({ length: bytes.length / 2 },
      (_, place) => half(bytes.charCodeAt(2 * place) | (bytes.charCodeAt(2 * place + 1) << 8)));
  };

  // Layers as PyTorch has them; an image is flat, channels before rows before columns. Weights are (out, in), of a
  // convolution (out, in, side, side), of a transposed one (in, out, side, side).
  const LAYERS = {
    dense: (weights, bias, [inputs, outputs]) => values => {
      const found = new Float64Array(outputs);
      for (let row = 0, place = 0; row < outputs; row += 1) {
        let total = bias[row];
        for (let column = 0; column < inputs; column += 1, place += 1) total += weights[place] * values[column];
        found[row] = total;
      }
      return found;
    },
    conv: (weights, bias, sizes) => swept(sizes, (found, values, weight, fine, coarse) => {
      found[coarse] += weight * values[fine];
    }, weights, bias, false),
    transposed: (weights, bias, sizes) => swept(sizes, (found, values, weight, fine, coarse) => {
      found[fine] += weight * values[coarse];
    }, weights, bias, true),
    relu: () => values => values.map(value => Math.max(value, 0)),
  };

  // What a convolution and its transpose share: every pair of a fine and a coarse pixel that a weight joins. The fine
  // image has `side` pixels, the coarse one as many as steps of `stride` fit.
  function swept([inputs, outputs, kernel, stride, padding, side], join, weights, bias, transposed) {
    const coarse = Math.floor((side + 2 * padding - kernel) / stride) + 1;
    const [finePixels, coarsePixels] = [side ** 2, coarse ** 2];
    return values => {
      const pixels = transposed ? finePixels : coarsePixels;
      const found = Float64Array.from({ length: outputs * pixels }, (_, place) => bias[Math.floor(place / pixels)]);
      for (let one = 0, place = 0; one < (transposed ? inputs : outputs); one += 1)
        for (let other = 0; other < (transposed ? outputs : inputs); other += 1)
          for (let down = 0; down < kernel; down += 1)
            for (let across = 0; across < kernel; across += 1, place += 1)
              for (let row = 0; row < coarse; row += 1) {
                const y = row * stride - padding + down;
                if (y < 0 || y >= side) continue;
                for (let column = 0; column < coarse; column += 1) {
                  const x = column * stride - padding + across;
                  if (x < 0 || x >= side) continue;
                  join(found, values, weights[place], other * finePixels + y * side + x,
                    one * coarsePixels + row * coarse + column);
                }
              }
      return found;
    };
  }

  // A stored model → { shape, latents, codes, decode(z), encode(pixels), … }.
  const load = stored => {
    const values = numbers(stored.data);
    let place = 0;
    const take = count => values.subarray(place, place += count);
    const build = layers => {
      const steps = layers.map(([kind, ...sizes]) => {
        const count = kind === 'dense' ? sizes[0] * sizes[1] : kind === 'relu' ? 0 : sizes[0] * sizes[1] * sizes[2] ** 2;
        const weights = take(count);
        return LAYERS[kind](weights, take(count && sizes[1]), sizes);
      });
      return input => steps.reduce((flowing, step) => step(flowing), input);
    };
    const [encoder, decoder] = [stored.encoder, stored.decoder].map(build);
    if (place !== values.length) throw new Error(`network: ${values.length} weights are stored, its layers take ${place}`);
    const [channels, rows, columns] = stored.shape, size = rows * columns;
    return {
      ...stored,
      // Pixels in [0, 1], flat → the posterior: means and logarithms of the variances.
      encode(pixels) {
        const given = Float64Array.from({ length: channels * size }, (_, n) => {
          const channel = Math.floor(n / size);
          return (pixels[n] - stored.mean[channel]) / stored.std[channel];
        });
        const found = encoder(given), half = found.length / 2;
        return { mean: [...found.slice(0, half)], logVariance: [...found.slice(half)] };
      },
      // Latents → the decoder's raw output, flat; of a model with the cross-entropy it is the pixels' logits.
      decode: z => decoder(Float64Array.from(z)),
    };
  };
  const loaded = {};
  const model = name => loaded[name] ??= load(Explore.weights[name]);

  const sigmoid = value => 1 / (1 + Math.exp(-value));
  const softplus = value => Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)));

  Explore.network = {
    half, load, model, sigmoid, softplus,
    encode: (network, pixels) => network.encode(pixels),
    decode: (network, z) => network.decode(z),
  };
})();
