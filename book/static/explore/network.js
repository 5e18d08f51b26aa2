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
  const HALVES = new Float32Array(2 ** 16);  // all there are, since a model has hundreds of thousands
  const bytesOf = base64 => {
    const text = atob(base64), found = new Uint8Array(text.length);
    for (let place = 0; place < found.length; place += 1) found[place] = text.charCodeAt(place);
    return found;
  };
  const numbers = base64 => {
    if (HALVES[1] === 0) HALVES.forEach((_, bits) => { HALVES[bits] = half(bits); });
    const bytes = bytesOf(base64), found = new Float32Array(bytes.length / 2);
    for (let place = 0; place < found.length; place += 1) found[place] = HALVES[bytes[2 * place] | (bytes[2 * place + 1] << 8)];
    return found;
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
    conv: convolved,
    transposed,
    relu: () => values => values.map(value => Math.max(value, 0)),
  };

  // What a convolution and its transpose share. The fine image has `side` pixels, the coarse one as many as steps of
  // `stride` fit. Each coarse pixel has a patch of the fine image, (channel, row, column): a convolution weighs it, the
  // transpose paints it. `walk` names the places of the patch that lie within the image.
  const walk = (channels, [kernel, stride, padding, side], coarse) => (pixel, each) => {
    const top = Math.floor(pixel / coarse) * stride - padding, left = pixel % coarse * stride - padding;
    for (let channel = 0, place = 0; channel < channels; channel += 1)
      for (let row = top; row < top + kernel; row += 1)
        for (let column = left; column < left + kernel; column += 1, place += 1)
          if (row >= 0 && row < side && column >= 0 && column < side) each(place, (channel * side + row) * side + column);
  };
  const coarseOf = ([kernel, stride, padding, side]) => Math.floor((side + 2 * padding - kernel) / stride) + 1;
  function convolved(weights, bias, [inputs, outputs, ...sizes]) {
    const coarse = coarseOf(sizes), pixels = coarse ** 2, length = inputs * sizes[0] ** 2, along = walk(inputs, sizes, coarse);
    return values => {
      const found = new Float64Array(outputs * pixels), patch = new Float64Array(length);
      for (let pixel = 0; pixel < pixels; pixel += 1) {
        patch.fill(0);
        along(pixel, (place, fine) => { patch[place] = values[fine]; });
        for (let out = 0, place = 0; out < outputs; out += 1) {
          let total = bias[out];
          for (let n = 0; n < length; n += 1, place += 1) total += weights[place] * patch[n];
          found[out * pixels + pixel] = total;
        }
      }
      return found;
    };
  }
  function transposed(weights, bias, [inputs, outputs, ...sizes]) {
    const coarse = coarseOf(sizes), pixels = coarse ** 2, length = outputs * sizes[0] ** 2, along = walk(outputs, sizes, coarse);
    return values => {
      const whole = sizes[3] ** 2, found = new Float64Array(outputs * whole), patch = new Float64Array(length);
      bias.forEach((value, channel) => found.fill(value, channel * whole, (channel + 1) * whole));
      for (let pixel = 0; pixel < pixels; pixel += 1) {
        patch.fill(0);
        for (let one = 0; one < inputs; one += 1) {
          const by = values[one * pixels + pixel];
          if (by === 0) continue;  // half of what a ReLU lets through
          for (let n = 0, place = one * length; n < length; n += 1, place += 1) patch[n] += by * weights[place];
        }
        along(pixel, (place, fine) => { found[fine] += patch[place]; });
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
    half, bytes: bytesOf, load, model, sigmoid, softplus,
    encode: (network, pixels) => network.encode(pixels),
    decode: (network, z) => network.decode(z),
  };
})();
