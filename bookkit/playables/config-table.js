/* What the layers of a model keep, read from its config.json by the table that Python reads as well:
   companion/models/atlas/rules.toml. Tests hold the two readers to each other. */

export function shown(value) {
  const text = JSON.stringify(value ?? null);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

const truth = (value) => (value !== null && typeof value === "object" ? Object.keys(value).length > 0 : Boolean(value));
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const TYPES = {
  flag: (value) => typeof value === "boolean",
  words: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  wholes: (value) => Array.isArray(value) && value.every(Number.isInteger),
  object: isObject,
  objects: (value) => Array.isArray(value) && value.every(isObject),
  text: (value) => typeof value === "string",
  pattern: (value) => typeof value === "string" || Array.isArray(value) || Number.isInteger(value),
};
const NUMBERS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "//": (a, b) => Math.floor(a / b), "%": (a, b) => ((a % b) + b) % b, "<": (a, b) => a < b, ">=": (a, b) => a >= b,
  max: Math.max, divided: (a, b) => a / b,
};
const VALUES = {
  not: (value) => !truth(value), "==": (a, b) => a === b, "!=": (a, b) => a !== b, in: (one, all) => (all ?? []).includes(one),
  len: (value) => value.length, text: (value) => typeof value === "string",
};

/* The field that an expression is about: the last one of a path, or the first. */
function fieldOf(it) {
  if (!Array.isArray(it)) return String(it);
  return it[0] === "[]" && Array.isArray(it[2]) ? it[2][1] : fieldOf(it[1]);
}

/* What expressions mean for the fields of one file. */
function evaluator({ checks, ranges, wanted }, fields, path) {
  const refused = (field, value, want) => new Error(`${field}: ${path} has ${shown(value)}, wanted ${want}`);
  const check = (name, value) => {
    const kind = checks[name];
    if (kind === undefined || value === undefined || value === null) return value ?? null;
    if (kind === "auto" && value === "auto") return null;
    const [least, most] = ranges[kind] ?? [];
    if (kind in ranges ? Number.isInteger(value) && least <= value && value <= most : TYPES[kind](value)) return value;
    throw refused(name, value, kind in ranges ? `a whole number from ${least} to ${most}` : wanted[kind]);
  };
  const number = (name, parts, at) => {
    const values = parts.map((part) => read(part, at));
    values.forEach((value, place) => {
      if (typeof value !== "number") throw refused(fieldOf(parts[place]), value, "a number");
    });
    if (["/", "//", "%", "divided"].includes(name) && values[1] === 0) throw refused(fieldOf(parts[1]), 0, "at least 1");
    if (name === "divided" && values[0] % values[1]) {
      throw refused(fieldOf(parts[0]), values[0], `a multiple of ${fieldOf(parts[1])}, ${values[1]}`);
    }
    return NUMBERS[name](...values);
  };
  const entry = (it, inside, place) => {
    if (inside === null) return null;
    if (isObject(inside)) {
      const key = [String(place), String(place).padStart(2, "0")].find((one) => Object.hasOwn(inside, one));
      return check(String(place), inside[key]);
    }
    if (typeof inside !== "string" && (!Array.isArray(inside) || typeof place !== "number")) throw refused(fieldOf(it), inside, "a list");
    if (place >= inside.length) throw refused(fieldOf(it), inside, `${place + 1} entries or more`);
    return inside[place] ?? null;
  };
  const read = (it, at = 0) => {
    if (typeof it === "string") return it === "i" ? at : check(it, Object.hasOwn(fields, it) ? fields[it] : null);
    if (!Array.isArray(it)) return it ?? null;
    const [name, ...parts] = it;
    if (name === "'") return parts[0];
    if (name === "if") return read(parts[truth(read(parts[0], at)) ? 1 : 2], at);
    if (name === "or" || name === "and") {
      for (const part of parts.slice(0, -1)) {
        const value = read(part, at);
        if (truth(value) === (name === "or")) return value;
      }
      return read(parts.at(-1), at);
    }
    if (name in NUMBERS) return number(name, parts, at);
    const values = parts.map((part) => read(part, at));
    if (name === "list") return values;
    if (name === "[]") return entry(parts[0], ...values);
    if (name === "len" && values[0] === null) throw refused(fieldOf(parts[0]), null, "letters or a list");
    return VALUES[name](...values);
  };
  return { read, refused };
}

/* The family, the fields and the path of the text model that a file describes. */
function textModel(table, file) {
  if (!isObject(file)) throw new Error(`config: config.json has ${shown(file)}, wanted an object`);
  const known = (name) => Object.hasOwn(table.families, table.same[name] ?? name);
  const within = (name) => (Object.hasOwn(table.inside, name) ? table.inside[name] : name);
  let [fields, path, name, inside] = [file, "config.json", file.model_type, false];
  for (let key; (key = table.wrapped.find((one) => isObject(fields[one]))); inside = true) {
    const outer = name;
    fields = fields[key];
    path = `${key} of ${path}`;
    name = fields.model_type;
    if (!known(name)) name = Object.hasOwn(table.inside, outer) ? table.inside[outer] : (name ?? outer);
  }
  name = within(name);
  if (typeof name !== "string" || !known(name)) {
    const count = Object.keys(table.families).length;
    throw new Error(`model_type: ${path} has ${name === null || name === undefined ? "none" : shown(name)}, wanted one of the ${count} known types, such as llama`);
  }
  return { name: table.same[name] ?? name, given: fields, path, inside };
}

/* The fields of a file under today's names, with all that follows from them. */
function canonical(table, file) {
  const { name, given, path, inside } = textModel(table, file);
  const family = { ...table.alike[table.families[name].alike], defaults: table.families[name].defaults };
  const fields = {};
  for (const [key, value] of Object.entries(given)) {
    const today = Object.hasOwn(family.names, key) ? family.names[key] : key;
    if (!Object.hasOwn(fields, today) || (today !== key && value !== null)) fields[today] = value;
  }
  const derived = family.rules.filter(([, , always]) => always).map(([target]) => target);
  const sizes = inside ? [] : ["num_hidden_layers", "hidden_size", "num_attention_heads"];
  for (const size of sizes) {
    if (family.sizes.includes(size) && !Object.hasOwn(fields, size) && !derived.includes(size)) {
      throw new Error(`${size}: ${path} has none, wanted a whole number`);
    }
  }
  const absent = Object.entries(family.defaults).filter(([key]) => !Object.hasOwn(fields, key));
  Object.assign(fields, Object.fromEntries(absent));
  const { read, refused } = evaluator(table, fields, path);
  const saidElsewhere = ([key, value]) => {
    fields[key] = null;
    const found = family.rules.some(([target, each, always, it]) => target === key && always && !each && read(it) !== null);
    fields[key] = value;
    return found;
  };
  const assumed = absent.filter((one) => one[0] !== "num_nextn_predict_layers" && !saidElsewhere(one));
  const word = (value) => (Object.hasOwn(table.words, String(value)) ? table.words[String(value)] : value);
  for (const key of ["layer_types", "indexer_types"]) {
    const listed = read(key);
    if (!truth(listed)) continue;
    const count = fields.num_hidden_layers;
    const cut = family.longer || listed.length === count + (read("num_nextn_predict_layers") ?? 0);
    fields[key] = (cut ? listed.slice(0, count) : listed).map(word);
  }
  for (const [target, each, always, it] of family.rules) {
    const now = fields[target];
    if (!always && !(now === undefined || now === null || now === "auto" || (Array.isArray(now) && !now.length))) continue;
    const count = each ? read("num_hidden_layers") : 0;
    if (each && count === null) throw refused("num_hidden_layers", null, "a whole number");
    const found = each ? Array.from({ length: count }, (_, at) => read(it, at)) : read(it);
    fields[target] = each && target.endsWith("_types") ? found.map(word) : found;
  }
  const [kinds, count] = [read("layer_types"), read("num_hidden_layers")];
  if (count === null) throw refused("num_hidden_layers", null, "a whole number");
  if (kinds.length !== count) throw new Error(`layer_types: ${path} has ${kinds.length}, wanted ${count}, the num_hidden_layers`);
  kinds.forEach((kind, at) => {
    if (Object.hasOwn(family.kinds, kind ?? "")) return;
    throw new Error(`layer_types: ${path} has ${shown(kind)} for layer ${at}, wanted one of ${Object.keys(family.kinds).join(", ")}`);
  });
  const [heads, keys] = [read("num_attention_heads"), read("num_key_value_heads")];
  if (!family.bare && keys && heads % keys) {
    throw new Error(`num_key_value_heads: ${path} has ${keys}, wanted a divisor of num_attention_heads, ${heads}`);
  }
  return { name, family, kinds, assumed, read, refused };
}

function keeps(part, at, { read, refused }) {
  const [numbers, limit] = [read(part.numbers, at), read(part.limit, at)];
  if (!Number.isInteger(numbers) || numbers < 1) throw refused(fieldOf(part.numbers), numbers, "at least 1");
  if (limit !== null && limit < 0) throw refused(fieldOf(part.limit), limit + 1, "at least 1");
  const tokens = part.once ? null : read(part.tokens ?? 1, at);
  return { what: part.what, numbers, tokens, limit, itemsize: part.itemsize ?? null, beyond: read(part.beyond, at) };
}

/* Read the fields of a config.json: {family, assumed, layers}, with one entry for layers in a row that are equal. */
export function readConfig(table, file) {
  const fields = canonical(table, file);
  const layers = [];
  fields.kinds.forEach((kind, at) => {
    const parts = table.parts[fields.family.kinds[kind]].filter((part) => truth(fields.read(part.when ?? true, at)));
    const kept = parts.map((part) => keeps(part, at, fields));
    const [last, same] = [layers.at(-1), JSON.stringify(kept)];
    if (last && last.kind === kind && JSON.stringify(last.keeps) === same) last.count += 1;
    else layers.push({ first: at + 1, count: 1, kind, keeps: kept });
  });
  return { family: fields.name, assumed: fields.assumed, layers };
}

/* All files of a list, each read or refused in words, for tests. */
export const readAll = ({ table, files }) => files.map((file) => {
  try {
    return readConfig(table, file);
  } catch (error) {
    return { fault: error.message };
  }
});
