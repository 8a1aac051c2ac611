import { CodedError } from '#contract/values/errors.ts';
import type { SearchWork } from '../shared/search-work.ts';

/**
 * Filters and orders of MLflow's searches: comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND tags.desk = "fx"`.
 * Grammar: https://mlflow.org/docs/latest/ml/search/search-runs
 */

/** What is compared: values by the name of their group and their own, such as `metrics` and `sharpe_ratio`. */
export interface Searchable {
  /** Of the group `attributes`, which is also that of a name without a group. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

type Group = keyof Searchable;

/** Fields that the filters and orders of a list may name. */
export interface KnownFields {
  /** The items of the list, such as `runs`. */
  readonly of: string;
  readonly attributes: readonly string[];
  /** Groups whose names are those of the items. */
  readonly groups: readonly Exclude<Group, 'attributes'>[];
}

/** Values of the attributes that a list knows. */
export type Attributes<Fields extends KnownFields> = Readonly<
  Record<Fields['attributes'][number], string | number | undefined>
>;

/** A field of a filter or an order. */
export interface Field {
  readonly group: Group;
  readonly name: string;
}

interface Comparison extends Field {
  readonly operator: string;
  /** One value; those of a list for IN. */
  readonly values: readonly (string | number)[];
}

export interface Order extends Field {
  readonly descending: boolean;
}

const GROUPS: Readonly<Record<string, Group>> = {
  attribute: 'attributes',
  attributes: 'attributes',
  attr: 'attributes',
  run: 'attributes',
  metric: 'metrics',
  metrics: 'metrics',
  param: 'params',
  params: 'params',
  parameter: 'params',
  parameters: 'params',
  tag: 'tags',
  tags: 'tags',
} as const;

/** The client adds a comparison of this tag to each search of models, and to each search of prompts. No model is a prompt. */
const PROMPT_TAG = 'mlflow.prompt.is_prompt';
const NO_PROMPT: Searchable = { attributes: {}, tags: { [PROMPT_TAG]: 'false' } };

const NAME = /(?:(\w+)\.)?(?:([\w.]+)|`([^`]*)`|"([^"]*)")/y;
const OPERATOR = /!=|<=|>=|=|<|>|(?:NOT\s+)?(?:I?LIKE|IN)\b/iy;
const VALUE = /'([^']*)'|"([^"]*)"|([-+]?\d[\d.]*(?:e[-+]?\d+)?)/iy;

/** Reads a text by patterns, from left to right. */
class Reader {
  readonly #parameter: 'filter' | 'order_by';
  readonly #text: string;
  readonly #known: KnownFields;
  #at = 0;

  constructor(parameter: 'filter' | 'order_by', text: string, known: KnownFields) {
    this.#parameter = parameter;
    this.#text = text;
    this.#known = known;
  }

  get ended(): boolean {
    this.#skip();
    return this.#at >= this.#text.length;
  }

  /** The match at this place. Throws VAL005 where there is none. */
  read(pattern: RegExp, wanted: string): RegExpExecArray {
    const match = this.find(pattern);
    if (match) return match;
    const rest = this.#text.slice(this.#at, this.#at + 40);
    throw this.invalid(
      rest === ''
        ? `${wanted} is missing at the end`
        : `${wanted} is expected where it says ${JSON.stringify(rest)}`,
    );
  }

  find(pattern: RegExp): RegExpExecArray | null {
    this.#skip();
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }

  /** The field at this place. Throws VAL005 for one that the list does not know. */
  field(): Field {
    const [, prefix, plain, backquoted, quoted] = this.read(NAME, 'A field');
    const name = (plain ?? backquoted ?? quoted)!;
    const { of, attributes, groups } = this.#known;
    const group = prefix === undefined ? 'attributes' : GROUPS[prefix.toLowerCase()];
    if (!group) {
      const all = ['attributes', ...groups].join(', ');
      throw this.#error(`${JSON.stringify(prefix)} is no group of fields: ${of} have ${all}`);
    }
    if (group === 'attributes' ? attributes.includes(name) : groups.includes(group)) return { group, name };
    const said = JSON.stringify((prefix === undefined ? name : `${prefix}.${name}`).slice(0, 100));
    const allowed = [...attributes, ...groups.map((each) => `${each}.<name>`)];
    throw this.#error(`${of} have no field ${said}: they have ${allowed.join(', ')}`, { allowed });
  }

  /** Error of a text that cannot be read. */
  invalid(message: string): CodedError {
    const { attributes, groups } = this.#known;
    const comparison = groups.includes('metrics')
      ? "metrics.sharpe_ratio > 1 AND params.strategy = 'ema_crossover'"
      : `${attributes[0]} LIKE 'a%'`;
    const example = this.#parameter === 'filter' ? comparison : `${attributes[0]} DESC`;
    return this.#error(`${message}. An example: ${example}`);
  }

  #error(message: string, context = {}): CodedError {
    const field = this.#parameter;
    return new CodedError('VAL005', { message: `${field}: ${message}`, field, context });
  }

  #skip(): void {
    while (this.#text[this.#at]?.trim() === '') this.#at += 1;
  }
}

/** The test of a filter; without one everything passes. Throws VAL005 for one that cannot be read, or names an unknown field. */
export function parseFilter(
  text: string | undefined,
  known: KnownFields,
): {
  readonly passes: (searched: Searchable, work: SearchWork) => boolean;
  readonly fields: readonly Field[];
} {
  const reader = new Reader('filter', text ?? '', known);
  const comparisons: Comparison[] = [];
  while (!reader.ended) {
    if (comparisons.length > 0) reader.read(/AND\b/iy, 'AND');
    comparisons.push(readComparison(reader));
  }
  const isOfPrompts = ({ name }: Comparison) => name === PROMPT_TAG;
  return {
    passes: (searched, work) =>
      comparisons.every((each) => holds(each, isOfPrompts(each) ? NO_PROMPT : searched, work)),
    fields: comparisons.filter((each) => !isOfPrompts(each)),
  };
}

/** The text that a field equals in a filter; undefined when the filter does not compare it so. Throws as {@link parseFilter}. */
export function equalTo(
  text: string | undefined,
  known: KnownFields,
  { group, name }: Field,
): string | undefined {
  const found = (parseFilter(text, known).fields as readonly Comparison[]).find(
    (each) => each.group === group && each.name === name && each.operator === '=',
  );
  return found && String(found.values[0]);
}

function readComparison(reader: Reader): Comparison {
  const field = reader.field();
  const operator = reader.read(OPERATOR, 'An operator')[0].toUpperCase().replace(/\s+/, ' ');
  if (!/IN$/.test(operator)) return { ...field, operator, values: [readValue(reader)] };
  reader.read(/\(/y, '(');
  const values = [readValue(reader)];
  while (reader.find(/,/y)) values.push(readValue(reader));
  reader.read(/\)/y, ')');
  return { ...field, operator, values };
}

function readValue(reader: Reader): string | number {
  const [, single, double, number] = reader.read(VALUE, 'A number or a quoted text');
  return number === undefined ? (single ?? double)! : Number(number);
}

/** Orders of a list, first the most important. Throws VAL005 for one that cannot be read, or names an unknown field. */
export function parseOrders(texts: readonly string[] | undefined, known: KnownFields): Order[] {
  return (texts ?? []).map((text) => {
    const reader = new Reader('order_by', text, known);
    const field = reader.field();
    const direction = reader.find(/(ASC|DESC)\b/iy)?.[1]?.toUpperCase();
    if (reader.ended) return { ...field, descending: direction === 'DESC' };
    throw reader.invalid(`${JSON.stringify(text.slice(0, 100))} is not a field with ASC or DESC`);
  });
}

/** Compares by the orders, then by nothing: a stable sort keeps the rest as it is. Missing values come last. */
export function compareBy(orders: readonly Order[]): (a: Searchable, b: Searchable) => number {
  return (a, b) => {
    for (const order of orders) {
      const [left, right] = [fieldValue(order, a), fieldValue(order, b)];
      if (left === right) continue;
      if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
      return (left < right ? -1 : 1) * (order.descending ? -1 : 1);
    }
    return 0;
  };
}

function fieldValue({ group, name }: Field, searched: Searchable): string | number | undefined {
  const values = searched[group] as Readonly<Record<string, string | number | undefined>> | undefined;
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

function holds(comparison: Comparison, searched: Searchable, work: SearchWork): boolean {
  const value = fieldValue(comparison, searched);
  work.add(comparison.values.length);
  // As in SQL, and in MLflow: a comparison with a missing value is never true.
  if (value === undefined) return false;
  const { operator, values } = comparison;
  const [wanted] = values;
  const matches = (text: string, pattern: string) => like(text, pattern, work);
  switch (operator) {
    case '=':
      return isEqual(value, wanted!);
    case '!=':
      return !isEqual(value, wanted!);
    case '<':
      return value < wanted!;
    case '<=':
      return value <= wanted!;
    case '>':
      return value > wanted!;
    case '>=':
      return value >= wanted!;
    case 'LIKE':
      return matches(String(value), String(wanted));
    case 'ILIKE':
      return matches(String(value).toLowerCase(), String(wanted).toLowerCase());
    case 'NOT LIKE':
      return !matches(String(value), String(wanted));
    case 'NOT ILIKE':
      return !matches(String(value).toLowerCase(), String(wanted).toLowerCase());
    case 'IN':
      return values.some((each) => isEqual(value, each));
    default:
      return !values.some((each) => isEqual(value, each));
  }
}

/** The number of a parameter is its text. */
function isEqual(value: string | number, wanted: string | number): boolean {
  return typeof value === 'number' ? value === Number(wanted) : value === String(wanted);
}

/** True when the pattern of LIKE fits: `%` any text, `_` any character. Time: product of both lengths. */
function like(text: string, pattern: string, work: SearchWork): boolean {
  work.add(pattern.length);
  const [first = '', ...parts] = pattern.split('%');
  const last = parts.pop();
  if (last === undefined) return text.length === first.length && isAt(text, first, 0, work);
  const end = text.length - last.length;
  let at = first.length;
  if (at > end || !isAt(text, first, 0, work) || !isAt(text, last, end, work)) return false;
  const middle = text.slice(0, end);
  for (const part of parts) {
    const found = find(middle, part, at, work);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * First place of a part of a pattern; -1 without one. Each comparison counts: `indexOf` compares a long part again at each place, as many
 * times as it has characters, and says only where it ended.
 */
function find(text: string, part: string, from: number, work: SearchWork): number {
  const [first] = part;
  for (let at = from; at <= text.length - part.length; at++) {
    if (first !== undefined && first !== '_' && text[at] !== first) {
      const next = text.indexOf(first, at);
      work.add((next < 0 ? text.length : next) - at);
      if (next < 0) return -1;
      at = next;
      if (at > text.length - part.length) return -1;
    }
    if (isAt(text, part, at, work)) return at;
  }
  return -1;
}

function isAt(text: string, part: string, at: number, work: SearchWork): boolean {
  let same = 0;
  while (same < part.length && (part[same] === '_' || part[same] === text[at + same])) same++;
  work.add(same + 1);
  return same === part.length;
}
