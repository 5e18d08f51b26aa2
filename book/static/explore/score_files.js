// Files of latents and factors: CSV, and NPZ as np.savez and np.savez_compressed write it. What does not fit gets one
// sentence, which is also that of `course score` (course_lib/metrics/file_faults.py). This is a program by itself, a
// function that returns its functions, so that a worker can be given its text.
globalThis.Explore ??= {};
globalThis.Explore.scoreFiles = () => {
  const SENTENCES = {
    kind: 'its name ends in {suffix}; allowed are .npz and .csv.',
    empty: 'it is empty; a table has a row of names and rows of numbers.',
    text: 'it is no text in UTF-8; save the table as CSV in UTF-8.',
    quote: 'it has a quotation mark that is not closed, or that something follows; quote whole cells, or none.',
    blank: 'column {place} has no name; each needs one.',
    headless: 'its first row holds the number {cell}; the first row is for the names of the columns.',
    twice: 'the name {name} comes twice; each column, each factor, needs a name of its own.',
    no_latents: 'no column z0 among {names}; latents are called z0, z1, …, and all other columns are factors.',
    no_factors: 'it has columns of latents alone, {names}; at least one factor must stand beside them.',
    no_rows: 'it has names, and no row of numbers below them.',
    cells: 'row {row} has {got} cells, and the first row has {wanted}; a number with a decimal comma makes two.',
    comma: 'row {row}, column {column}: {cell} has a decimal comma; write a point, as in 1.5.',
    missing: 'row {row}, column {column} is empty; each row needs a number in every column.',
    infinite: 'row {row}, column {column}: {cell} is not finite; a score needs finite numbers.',
    word: 'row {row}, column {column}: {cell} is no number; numbers are written like -1.5 or 2e-3.',
    integer: 'row {row}, column {column}: {cell} is no integer; number a factor\'s values 0, 1, 2, ….',
    zip: 'it is no zip archive, as an .npz is, or it is damaged.',
    packed: 'it is encrypted, or packed in a way that NumPy does not use; np.savez and np.savez_compressed write it.',
    lacks: 'it lacks the array {names}; an .npz has latents (n, D) and factors (n, F).',
    cut: 'its array {name} is cut short, or not in NumPy\'s format.',
    objects: 'its array {name} holds Python objects, which are not loaded: they could run a program.',
    real: 'its array {name} has the type {dtype}; allowed are real numbers.',
    whole: 'its array factors has the type {dtype}; allowed are integers.',
    table: 'its array {name} has the shape {shape}; allowed are rows and columns, at least one of each.',
    rows: 'latents have {latents} rows, and factors {factors}; each row is one image in both.',
    not_finite: 'latents are NaN or infinite in {rows} of {n} rows; a score needs finite numbers.',
    names: 'names has {got} entries for {wanted} factors.',
    constant: 'all factors are constant; at least one must take two values.',
    beyond: '{what} reach beyond {limit}, which no score can add up.',
  };
  class FileFault extends Error {
    constructor(kind, parts = {}) {
      super(SENTENCES[kind].replace(/\{(\w+)\}/g, (_, key) => parts[key]));
      this.kind = kind;
    }
  }
  // What is wrong with the names that were chosen, in the words of the command line.
  class ChoiceFault extends Error {
    kind = 'choice';
  }
  const quoted = name => (name.includes("'") && !name.includes('"') ? `"${name}"` : `'${name.replaceAll("'", "\\'")}'`);
  const checkChoice = (argument, chosen = [], names = []) => {
    const missing = chosen.find(name => !names.includes(name)), again = twice(chosen);
    if (missing !== undefined) throw new ChoiceFault(`${argument}: got ${quoted(missing)}; the file has ${names.join(', ')}.`);
    if (again !== undefined) throw new ChoiceFault(`${argument}: got ${quoted(again)} twice; each is named once.`);
  };

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, COMMA = /^[+-]?\d*,\d+(e[+-]?\d+)?$/i;
  const UNBOUND = /^[+-]?(nan|inf|infinity|n\/?a)$/i, LARGEST = 1e300, MOST = Number.MAX_SAFE_INTEGER;
  const twice = names => names.find((name, place) => names.indexOf(name) < place);

  const separator = text => {
    const head = text.trimStart().split('\n', 1)[0].replace(/"[^"]*"/g, '');
    const counts = [',', ';', '\t'].map(mark => head.split(mark).length);
    return [',', ';', '\t'][counts.indexOf(Math.max(...counts))];
  };

  // The rows of a CSV, each with its number: a blank line is none, and a quoted cell may hold anything.
  const records = (text, mark) => {
    const rows = [];
    let [place, number] = [0, 0];
    while (place < text.length) {
      const cells = [];
      for (let more = true; more;) {
        while (text[place] === ' ') place += 1;
        let cell = '';
        if (text[place] === '"') {
          for (place += 1; ; place += 2) {
            const end = text.indexOf('"', place);
            if (end < 0) throw new FileFault('quote');
            cell += text.slice(place, end);
            place = end + 1;
            if (text[place] !== '"') break;
            cell += '"';
            place -= 1;
          }
          if (place < text.length && ![mark, '\r', '\n'].includes(text[place])) throw new FileFault('quote');
        } else {
          const from = place;
          while (place < text.length && text[place] !== mark && text[place] !== '\n' && text[place] !== '\r') place += 1;
          cell = text.slice(from, place);
        }
        cells.push(cell.trim());
        more = text[place] === mark;
        if (more) place += 1;
      }
      if (text[place] === '\r') place += 1;
      if (text[place] === '\n') place += 1;
      number += 1;
      if (cells.length > 1 || cells[0] !== '') rows.push([number, cells]);
    }
    return rows;
  };

  const checkNames = names => names.forEach((name, place) => {
    if (!name) throw new FileFault('blank', { place: place + 1 });
    if (NUMBER.test(name)) throw new FileFault('headless', { cell: name });
    if (names.indexOf(name) < place) throw new FileFault('twice', { name });
  });

  const number = (cell, row, column, whole) => {
    if (!NUMBER.test(cell)) {
      const kind = UNBOUND.test(cell) ? 'infinite' : !cell ? 'missing' : COMMA.test(cell) ? 'comma' : 'word';
      throw new FileFault(kind, { row, column, cell });
    }
    if (whole && !/^[+-]*\d+$/.test(cell)) throw new FileFault('integer', { row, column, cell });
    return Number(cell);
  };

  const csv = (bytes, chosen) => {
    let text;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new FileFault('text');
    }
    if (!text.trim() || text.includes('\0')) throw new FileFault(text.includes('\0') ? 'text' : 'empty');
    const [[, names], ...rows] = records(text, separator(text));
    checkNames(names);
    if (!rows.length) throw new FileFault('no_rows');
    for (const [row, cells] of rows)
      if (cells.length !== names.length) throw new FileFault('cells', { row, got: cells.length, wanted: names.length });
    for (const side of ['latents', 'factors']) checkChoice(side, chosen[side], names);
    const others = names.filter(name => !chosen.factors?.includes(name));
    const latents = chosen.latents ?? others.filter(name => /^z\d+$/.test(name));
    const factors = chosen.factors ?? names.filter(name => !latents.includes(name));
    if (!latents.length) throw new FileFault('no_latents', { names: others.join(', ') || 'the columns that are left' });
    if (!factors.length) throw new FileFault('no_factors', { names: names.join(', ') });
    const columns = (some, whole) => some.map(name => {
      const place = names.indexOf(name);
      return Float64Array.from(rows, ([row, cells]) => number(cells[place], row, name, whole));
    });
    const table = { latents: columns(latents, false), factors: columns(factors, true), names: factors, single: false };
    const both = factors.find(name => latents.includes(name));
    if (both !== undefined)
      throw new ChoiceFault(`factors: got ${quoted(both)}, which is among the latents; a column is one or the other.`);
    return table;
  };

  // What a zip archive holds: name → how and where.
  const entries = view => {
    const at = { end: view.byteLength - 22 }, found = {};
    while (at.end >= 0 && view.getUint32(at.end, true) !== 0x06054b50) at.end -= 1;
    if (at.end < 0) throw new FileFault('zip');
    let place = view.getUint32(at.end + 16, true);
    for (let left = view.getUint16(at.end + 10, true); left > 0; left -= 1) {
      if (view.getUint32(place, true) !== 0x02014b50) throw new FileFault('zip');
      const [flags, method] = [8, 10].map(offset => view.getUint16(place + offset, true));
      const [sum, size, start] = [16, 20, 42].map(offset => view.getUint32(place + offset, true));
      const [name, extra, comment] = [28, 30, 32].map(offset => view.getUint16(place + offset, true));
      const bytes = new Uint8Array(view.buffer, view.byteOffset + place + 46, name);
      found[new TextDecoder().decode(bytes).replace(/\.npy$/, '')] = { flags, method, sum, size, start };
      place += 46 + name + extra + comment;
    }
    return found;
  };

  const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit += 1) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
    return byte;
  });
  const checked = (bytes, sum) => {
    let found = -1;
    for (const byte of bytes) found = CRC[(found ^ byte) & 255] ^ (found >>> 8);
    if ((~found >>> 0) !== sum) throw new FileFault('zip');
    return bytes;
  };
  const unpacked = async (view, { method, sum, size, start }) => {
    if (view.getUint32(start, true) !== 0x04034b50) throw new FileFault('zip');
    const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
    if (from + size > view.byteLength) throw new FileFault('zip');
    const bytes = new Uint8Array(view.buffer, view.byteOffset + from, size);
    if (method === 0) return checked(bytes.slice(), sum);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return checked(new Uint8Array(await new Response(stream).arrayBuffer()), sum);
  };

  const half = bits => {
    const exponent = (bits >> 10) & 31, rest = bits & 1023, sign = bits & 32768 ? -1 : 1;
    if (exponent === 31) return rest ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + rest / 1024) : 2 ** -24 * rest);
  };
  const READERS = {
    f2: (view, at, little) => half(view.getUint16(at, little)), f4: (v, at, little) => v.getFloat32(at, little),
    f8: (v, at, little) => v.getFloat64(at, little), i1: (v, at) => v.getInt8(at), u1: (v, at) => v.getUint8(at),
    i2: (v, at, little) => v.getInt16(at, little), u2: (v, at, little) => v.getUint16(at, little),
    i4: (v, at, little) => v.getInt32(at, little), u4: (v, at, little) => v.getUint32(at, little),
    i8: (v, at, little) => Number(v.getBigInt64(at, little)), u8: (v, at, little) => Number(v.getBigUint64(at, little)),
  };
  const NAMES = { f2: 'float16', f4: 'float32', f8: 'float64', b1: 'bool', c8: 'complex64', c16: 'complex128' };

  // NumPy's format: its type, shape and order, and where the numbers begin.
  const header = (bytes, name) => {
    const view = new DataView(bytes.buffer), version = bytes[6];
    const magic = String.fromCharCode(...bytes.slice(1, 6)) === 'NUMPY' && bytes[0] === 0x93;
    if (!magic || ![1, 2, 3].includes(version)) throw new FileFault('cut', { name });
    const from = version === 1 ? 10 : 12, long = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
    const text = new TextDecoder().decode(bytes.slice(from, from + long));
    const [, type] = text.match(/'descr':\s*'([^']*)'/) ?? [], [, shape] = text.match(/'shape':\s*\(([^)]*)\)/) ?? [];
    const [, fortran] = text.match(/'fortran_order':\s*(True|False)/) ?? [];
    if (/'descr':\s*'\|?O'/.test(text)) throw new FileFault('objects', { name });
    if (type === undefined || shape === undefined || !fortran) throw new FileFault('cut', { name });
    return { type, shape: shape.split(',').filter(part => part.trim()).map(Number), fortran: fortran === 'True', from: from + long };
  };

  // The columns of a table of numbers (n, k).
  const table = (bytes, name) => {
    const { type, shape, fortran, from } = header(bytes, name), kind = type.slice(1), read = READERS[kind];
    const dtype = NAMES[kind] ?? kind.replace(/^i/, 'int').replace(/^u/, 'uint').replace(/\d+$/, size => 8 * size);
    if (!read) throw new FileFault('real', { name, dtype: /^[iuf]/.test(kind) || NAMES[kind] ? dtype : type });
    const said = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
    if (shape.length !== 2 || shape.includes(0)) throw new FileFault('table', { name, shape: said });
    const [n, width] = shape, size = Number(kind.slice(1)), little = type[0] !== '>';
    if (bytes.length < from + n * width * size) throw new FileFault('cut', { name });
    const view = new DataView(bytes.buffer), place = fortran ? (i, j) => j * n + i : (i, j) => i * width + j;
    const column = j => Float64Array.from({ length: n }, (_, i) => read(view, from + size * place(i, j), little));
    return { columns: Array.from({ length: width }, (_, j) => column(j)), dtype, real: kind[0] === 'f', n };
  };

  const words = bytes => {
    const { type, shape, from } = header(bytes, 'names'), size = Number(type.slice(2)), view = new DataView(bytes.buffer);
    const count = shape.reduce((all, side) => all * side, 1), unicode = type[1] === 'U';
    if (!unicode && type[1] !== 'S') throw new FileFault('real', { name: 'names', dtype: type });
    const wide = unicode ? 4 : 1;
    const letter = at => (unicode ? view.getUint32(at, type[0] !== '>') : view.getUint8(at));
    return Array.from({ length: count }, (_, i) => String.fromCodePoint(
      ...Array.from({ length: size }, (__, j) => letter(from + wide * (i * size + j))).filter(code => code)));
  };

  const npz = async (bytes, chosen) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), arrays = {};
    const inside = entries(view), packed = ({ flags, method }) => flags & 1 || ![0, 8].includes(method);
    if (Object.values(inside).some(packed)) throw new FileFault('packed');
    const lacking = ['latents', 'factors'].filter(name => !inside[name]);
    if (lacking.length) throw new FileFault('lacks', { names: lacking.join(' and ') });
    for (const name of ['latents', 'factors', 'names'].filter(each => inside[each])) {
      const found = await unpacked(view, inside[name]).catch(error => { throw error instanceof FileFault ? error : new FileFault('zip'); });
      arrays[name] = name === 'names' ? words(found) : table(found, name);
    }
    const { latents, factors } = arrays;
    if (factors.real) throw new FileFault('whole', { dtype: factors.dtype });
    if (latents.n !== factors.n) throw new FileFault('rows', { latents: latents.n, factors: factors.n });
    const single = latents.dtype !== 'float64';  // course_lib takes all others for single precision
    const columns = single ? latents.columns.map(column => column.map(Math.fround)) : latents.columns;
    const wrong = columns[0].filter((_, i) => columns.some(column => !Number.isFinite(column[i]))).length;
    if (wrong) throw new FileFault('not_finite', { rows: wrong, n: latents.n });
    const { names = factors.columns.map((_, place) => `factor ${place}`) } = arrays;
    if (names.length !== factors.columns.length) throw new FileFault('names', { got: names.length, wanted: factors.columns.length });
    if (twice(names) !== undefined) throw new FileFault('twice', { name: twice(names) });
    checkChoice('factors', chosen.factors, names);
    const some = chosen.factors ?? names;
    return { latents: columns, factors: some.map(each => factors.columns[names.indexOf(each)]), names: some, single };
  };

  // The table in a file: columns of latents and of factors, the factors' names, and whether latents are single precision.
  // chosen: the names of the factors that count, and of the columns of a CSV that are latents, where not all do.
  const read = async (name, bytes, chosen = {}) => {
    const [suffix] = name.match(/(?<=.)\.[^.]*$/) ?? [''];
    if (!['.npz', '.csv'].includes(suffix)) throw new FileFault('kind', { suffix: suffix || 'nothing' });
    if (chosen.latents && suffix === '.npz')
      throw new ChoiceFault('latents: chosen among the columns of a .csv; a .npz has them in its array `latents`.');
    let found;
    try {
      found = suffix === '.csv' ? csv(bytes, chosen) : await npz(bytes, chosen);
    } catch (error) {
      throw error instanceof RangeError ? new FileFault('zip') : error;  // an address beyond the end
    }
    const far = (columns, most) => columns.some(column => column.some(value => Math.abs(value) > most));
    if (far(found.latents, LARGEST)) throw new FileFault('beyond', { what: 'latents', limit: '±1e+300' });
    if (far(found.factors, MOST)) throw new FileFault('beyond', { what: 'factors', limit: '±2⁵³, the most that a page holds exactly,' });
    if (found.factors.every(column => column.every(value => value === column[0]))) throw new FileFault('constant');
    return found;
  };
  return { read, SENTENCES, FileFault };
};
