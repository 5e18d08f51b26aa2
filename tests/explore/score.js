// Reads and scores the files that it is given, as the page does: one line of JSON for each, { found } or { kind, fault }.
// A file with a choice of columns is given as JSON, { path, latents, factors }.
const { readFileSync } = require('node:fs');
const { basename, join } = require('node:path');

const FOLDER = join(__dirname, '..', '..', 'book', 'static', 'explore');
for (const name of ['toolkit', 'score_files', 'score_distances', 'score_numbers', 'score']) require(join(FOLDER, `${name}.js`));
const { scoreFiles, scoreNumbers, scoreDistances, score } = globalThis.Explore;

(async () => {
  const files = scoreFiles(), numbers = scoreNumbers(scoreDistances);
  console.log(JSON.stringify({ sentences: files.SENTENCES, about: score.ABOUT, examples: [0, 30, 45].map(score.example) }));
  for (const given of process.argv.slice(2)) {
    const { path, ...chosen } = given.startsWith('{') ? JSON.parse(given) : { path: given };
    let line;
    try {
      const table = await files.read(basename(path), new Uint8Array(readFileSync(path)), chosen);
      const found = numbers.evaluate(table);
      line = { found, warnings: score.warnings(found) };
    } catch (error) {
      if (!error.kind) throw error;
      line = { kind: error.kind, fault: error.message };
    }
    console.log(JSON.stringify(line));
  }
})();
