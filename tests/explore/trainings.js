// What the explorer of chapter 15 comes to: `node trainings.js > trainings.json` (some minutes). Of each size and spacing,
// for seeds 0 to 4 and β = 2, the rank correlation after 100 steps and at the end, and the KL at the end.
const { join } = require('node:path');

const FOLDER = join(__dirname, '..', '..', 'book', 'static', 'explore');
for (const name of ['toolkit', 'maths', 'train']) require(join(FOLDER, `${name}.js`));
const { pictures, trainer, order, MOST } = globalThis.Explore.train;
const DESIGNS = [[4, 1], [2, 1], [2, 2], [1, 1]], BETA = 2, EARLY = 100;

const trained = (side, spacing, seed, steps = MOST) => {
  const model = trainer(globalThis.Explore.maths, { images: pictures(side, spacing), beta: BETA, seed });
  const found = { side, spacing, seed };
  for (let step = 1; step <= steps; step += 1) {
    found.kl = model.step().kl;
    if (step === EARLY) found.early = order(model.codes());
  }
  return { ...found, rank: order(model.codes()) };
};

module.exports = { trained, EARLY };
if (require.main === module) {
  const all = DESIGNS.flatMap(([side, spacing]) => [0, 1, 2, 3, 4].map(seed => trained(side, spacing, seed)));
  console.log(`[\n${all.map(each => JSON.stringify(each)).join(',\n')}\n]`);
}
