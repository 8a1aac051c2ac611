import type { Json, Schema } from './document.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Values that break careless programs. */

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\u202eevil\u202c',
  '\u200b\u200d\ufeff',
  '👩‍👩‍👧‍👦🏴‍☠️',
  'e\u0301'.repeat(40),
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢',
  '\u2028\u2029\u0085',
  '\r\n{"level":"ERROR","message":"forged"}',
  '\u001b[31mred\u0007',
  '../../../../etc/passwd',
  '..\\..\\windows',
  'C:\\nul',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}#{7*7}',
  '$(touch x)`touch x`',
  '%00%2e%2e%2f',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e999',
  '0x10',
  '١٢٣',
  'ﬀİıſß',
  'MODEL#x#1',
  '{"$ne":null}',
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data/',
  'latest',
  'champion',
  `${'a'.repeat(50)}!`,
  '/'.repeat(60),
];

const NUMBERS = [
  0,
  -0,
  -1,
  1,
  0.1,
  -0.5,
  1e-320,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53) - 2,
  1e21,
  Number.MIN_VALUE,
  1.000_000_000_000_1,
];

/** Times around calendar boundaries. Ranges of them are short or rejected. */
const TIMES = [
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '+010000-01-01T00:00:00Z',
  '2024-02-29T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2026-03-29T02:30:00+02:00',
  '2026-06-30T23:59:60Z',
  '2026-01-01T24:00:00Z',
  '2026-1-1',
  '2026-01-01',
  '20260101T000000Z',
  '1767225600000',
  'yesterday',
  '2026-01-01T00:00:00.000000001Z',
];

/** Keys that reach into prototypes, or collide with names of the language. */
export const PROTOTYPE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
  'length',
];

export function hostileText(random: SeededRandom): string {
  return random.bool(0.05) ? '💥'.repeat(random.int(1000, 3000)) : random.pick(TEXTS);
}

/** A value at, just inside or just outside the bounds of the schema. */
export function boundaryValue(schema: Schema, random: SeededRandom): Json {
  const { enum: listed, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (listed) return random.pick([...listed, `${listed[0]} `, String(listed[0]).toUpperCase()]);
  if (schema.format === 'date-time') return random.pick(TIMES);
  if (hasType(schema, 'integer', 'number')) {
    const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((one) => one !== undefined);
    const step = hasType(schema, 'integer') ? 1 : 1e-9;
    const around = bounds.flatMap((bound: number) => [bound, bound - step, bound + step]);
    return random.pick(around.length > 0 && random.bool(0.7) ? around : NUMBERS);
  }
  if (hasType(schema, 'array')) return random.pick([[], Array(schema.maxItems ?? 50).fill('x'), [null]]);
  const { minLength = 1, maxLength = 200 } = schema;
  return 'x'.repeat(random.pick([0, 1, minLength - 1, minLength, maxLength - 1, maxLength, maxLength + 1]));
}

function hasType(schema: Schema, ...types: readonly string[]): boolean {
  return [schema.type].flat().some((type) => types.includes(type));
}

/** A value of any JSON type. */
export function anyValue(random: SeededRandom): Json {
  const makers: readonly (() => Json)[] = [
    () => null,
    () => random.bool(),
    () => random.pick(NUMBERS),
    () => hostileText(random),
    () => [],
    () => ({}),
    () => [hostileText(random), random.pick(NUMBERS), null],
    () => ({ [random.pick(PROTOTYPE_KEYS.slice(1))]: random.pick(NUMBERS) }),
    () => [[[[]]]],
  ];
  return random.pick(makers)();
}

/** A value that takes space. */
export function hugeValue(random: SeededRandom): Json {
  const makers: readonly (() => Json)[] = [
    () => 'x'.repeat(random.int(10_000, 300_000)),
    () => Array(random.int(1000, 20_000)).fill('BTC/USDT:USDT'),
    () => Array.from({ length: 3000 }, (_, index) => index),
    () => Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index])),
    () => '\ufdfa'.repeat(20_000),
  ];
  return random.pick(makers)();
}
