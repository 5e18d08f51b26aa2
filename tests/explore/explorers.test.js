// The scripts of the explorers under node: their functions against course_lib's cases, and against what geometry says.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const FOLDER = join(__dirname, '..', '..', 'book', 'static', 'explore');
const CAPACITIES = [1, 4, 16, 48].flatMap(beta => [0, 1, 2].map(seed => `capacity-${beta}-${seed}`));
const MODELS = ['vae', 'autoencoder', 'square', ...CAPACITIES, 'rooms', 'shapes3d-entangled', 'shapes3d-disentangled'].map(name => join('weights', name));
const SCRIPTS = ['toolkit', 'maths', 'network', ...MODELS, 'adversary', 'kernel', 'cloud', 'triplet', 'sphere', 'posteriors', 'map', 'train', 'rotate', 'capacity', 'dials'];
for (const name of SCRIPTS) require(join(FOLDER, `${name}.js`));
const { Explore } = globalThis;
// The first loss and its slopes, and the weights after a step for each draw of the noise.
Explore.train.measured = (given, noises) => {
  const { slopes, step, layers } = Explore.train.trainer(Explore.maths, given), parts = layers.flat();
  const first = { ...slopes(noises[0]), slopes: parts.map(({ slope }) => [...slope]) };
  noises.forEach(noise => step(noise));
  return { ...first, after: parts.map(({ values }) => [...values]) };
};
const CASES = JSON.parse(readFileSync(join(__dirname, 'cases.json'), 'utf8'));

const find = call => call.split('.').reduce((from, name) => from[name], Explore);
const run = ({ call, with: given }) => find(call)(...given.map(value => (value?.call ? run(value) : value)));

// Equal to a millionth of the larger, or of 1. What a case does not name is not compared.
const near = (found, wanted, where) => {
  if (typeof wanted === 'number') {
    const most = 1e-6 * Math.max(1, Math.abs(wanted), Math.abs(found));
    assert.ok(Math.abs(found - wanted) <= most, `${where}: ${found} is not ${wanted}`);
  } else if (wanted === null || typeof wanted !== 'object') assert.equal(found, wanted, where);
  else {
    if (Array.isArray(wanted)) assert.equal(found.length, wanted.length, where);
    for (const key of Object.keys(wanted)) near(found[key], wanted[key], `${where}.${key}`);
  }
};

for (const [number, one] of CASES.entries())
  test(`case ${number}: ${one.call}`, () => {
    let found = run(one);
    if (one.call === 'kernel.distances') found = [found[0], found[3]];  // the rows that are stored
    near(found, one.gives, one.call);
  });

test('a comparison can fail', () => {
  assert.throws(() => near([1, 2.00001], [1, 2], 'x'), /x\.1: 2\.00001 is not 2/);
  assert.throws(() => near([1], [1, 2], 'x'));
  assert.throws(() => near({ a: true }, { a: false }, 'x'));
});

test('permuted codes keep each latent’s values, and no order', () => {
  const { sources, turned, permuted, gaussianScore } = Explore.cloud;
  const points = turned(sources('gaussian', 3), 40), apart = permuted(points);
  for (const j of [0, 1]) {
    const [before, after] = [points, apart].map(all => all.map(point => point[j]));
    assert.notDeepEqual(before, after);
    assert.deepEqual([...before].sort((a, b) => a - b), [...after].sort((a, b) => a - b));
  }
  assert.ok(gaussianScore(points) > .4 && gaussianScore(apart) < .02);
});

test('a batch estimate and MWS differ by (D − 1) ln N', () => {
  const { sources, estimates } = Explore.cloud, { batch, mws } = estimates(sources('box', 2), .1);
  near(mws - batch, Math.log(400), 'difference');
});

test('what chapter 05 says of a box', () => {
  const { sources, turned, gaussianScore, exact } = Explore.cloud;
  assert.equal(gaussianScore(turned(sources('box', 1), 45)).toFixed(3), '0.002');
  near(exact('box', 1, 45), 1 - Math.log(2), 'a diamond');
  for (const angle of [0, 20, 45, 90]) near(exact('gaussian', 1, angle), 0, 'a round Gaussian');
  for (const [law, ratio] of [['gaussian', 3], ['box', 1], ['box', 3]])
    assert.deepEqual([0, 1, 45, 89, 90].map(angle => exact(law, ratio, angle) > 1e-9), [false, true, true, true, false]);
});

test('the largest eigenvalue of a matrix whose eigenvalues are known', () => {
  near(Explore.maths.largestEigenvalue([[2, 1, 0], [1, 2, 0], [0, 0, .5]]), 3, 'value');
  assert.equal(Explore.maths.largestEigenvalue([[0, 0], [0, 0]]), 0);
});

test('an arrow carried around a triangle is turned by its area', () => {
  const { corners, area, trip, carried, turn } = Explore.sphere, radians = Math.PI / 180;
  for (const [first, second, between] of [[90, 90, 90], [90, 90, 30], [40, 75, 110], [120, 100, 150], [10, 15, 20]]) {
    const triangle = corners(first, second, between), way = trip(triangle);
    // L'Huilier's formula, from the three sides alone
    const [a, b] = [first * radians, second * radians];
    const c = Math.acos(Math.cos(a) * Math.cos(b) + Math.sin(a) * Math.sin(b) * Math.cos(between * radians));
    const s = (a + b + c) / 2, product = [s, s - a, s - b, s - c].map(x => Math.tan(x / 2)).reduce((x, y) => x * y);
    near(area(triangle), 4 * Math.atan(Math.sqrt(product)), 'area');
    for (const start of [[1, 0, 0], [0, 1, 0], [.6, -.8, 0]])  // any arrow in the plane of the pole
      near(turn(way, carried(way, start)), area(triangle), `turn of ${start}`);
    for (const [n, arrow] of carried(way, [1, 0, 0]).entries()) {
      near(Math.hypot(...arrow), 1, 'length');
      near(Explore.maths.dot(arrow, way[n]), 0, 'flat');
    }
  }
});

test('what chapter 19 says of steps of descent', () => {
  const { adaptive, START } = Explore.triplet, fixed = { margin: 5, weight: .5, strength: .5, resting: 5 };
  const walk = (points, steps) => {
    let now = structuredClone(points);
    for (let step = 0; step < steps; step += 1) {
      const { gradients } = adaptive({ ...now, ...fixed });
      for (const name of Object.keys(now)) now[name] = now[name].map((value, j) => value - .1 * gradients[name][j]);
    }
    return adaptive({ ...now, ...fixed });
  };
  const above = walk(START, 8), below = walk({ ...START, positive: [0, -4] }, 4);
  near(above.differences.slice(0, 2), [3.8, 1.2], 'the positive above');
  assert.deepEqual(above.mask, [false, true]);
  assert.ok(below.differences[1] > 1.8);
  assert.deepEqual(below.mask, [false, false]);
  const averaged = adaptive({ ...START, ...fixed, weight: 0 });
  near(averaged.gradients.negative, [-1, 0], 'ω = 0');
});

test('what chapter 02 says of four posteriors', () => {
  const { START, judge, descended, exchanged } = Explore.posteriors;
  const of = (points, spacing, beta = 1) => judge({ ...points, spacing, beta });
  const found = [1, 4].map(spacing => [START, exchanged(START)].map(points => of(points, spacing)));
  for (const [n, wanted] of [['5.79', '8.83'], ['20.52', '20.52']].entries())
    assert.deepEqual(found[n].map(({ reconstruction }) => reconstruction.toFixed(2)), wanted);
  for (const { kl, mistaken } of found.flat()) assert.deepEqual([kl.toFixed(3), (100 * mistaken).toFixed(1)], ['0.718', '31.8']);
  const order = ({ means }) => [0, 1, 2, 3].sort((i, j) => means[i] - means[j]).join('');
  assert.deepEqual([1, 10].map(beta => order(descended(exchanged(START), 1, beta))), ['0321', '0123']);
  const apart = [START, exchanged(START)].map(points => of(descended(points, 4, 10), 4, 10).loss);
  near(apart[0], apart[1], 'apart');
});

test('how many samples are mistaken, in closed form', () => {
  const { judge } = Explore.posteriors, given = { spacing: 1, beta: 1 };
  const share = (means, stds) => judge({ ...given, means, stds }).mistaken;
  assert.ok(Math.abs(share([0, 0, 0, 0], [1, 1, 1, 1]) - .75) < 1e-5);
  // equal bells at distance d: the two at the ends are mistaken with Φ(−d / 2σ), the two in the middle with twice that
  assert.ok(Math.abs(share([-3, -1, 1, 3], [1, 1, 1, 1]) - 1.5 * .15865525) < 1e-4);
  assert.ok(share([-3, -1, 1, 3], [.1, .1, .1, .1]) < 1e-9);
});

test('halves, and a model whose weights do not fit its layers', () => {
  const { half, load } = Explore.network;
  const bits = [[0x3C00, 1], [0xC000, -2], [0x3555, .333251953125], [0x0001, 2 ** -24], [0x7BFF, 65504], [0x8000, 0]];
  for (const [given, wanted] of bits) near(half(given), wanted, given);
  assert.equal(half(0xFC00), -Infinity);
  assert.ok(Number.isNaN(half(0x7E00)));
  const stored = { ...Explore.weights.vae, decoder: [['dense', 2, 64]] };
  assert.throws(() => load(stored), /33540 weights are stored, its layers take \d+/);
});
