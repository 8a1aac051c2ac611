import { type Code, codeOf, type Operand, type Type, unsigned, type Variable } from './assembler.ts';

/** An operation whose operands have one type. */
const op =
  (type: Type, ...opcode: readonly number[]) =>
  (...operands: readonly Operand[]): Code => [
    ...operands.flatMap((operand) => codeOf(operand, type)),
    ...opcode,
  ];

/** A vector operation. */
const simd = (opcode: number, type: Type = 'v128') => op(type, 0xfd, ...unsigned(opcode));

/** A load from `address + offset`. */
const load =
  (...opcode: readonly number[]) =>
  (address: Operand, offset = 0): Code => [...codeOf(address, 'i32'), ...opcode, 0, ...unsigned(offset)];

/** A store to `address + offset`. */
const store =
  (type: Type, ...opcode: readonly number[]) =>
  (address: Operand, value: Operand, offset = 0): Code => [
    ...codeOf(address, 'i32'),
    ...codeOf(value, type),
    ...opcode,
    0,
    ...unsigned(offset),
  ];

const lane =
  (opcode: number) =>
  (operand: Operand, index: number): Code => [...codeOf(operand, 'v128'), 0xfd, ...unsigned(opcode), index];

export const i32 = {
  add: op('i32', 0x6a),
  sub: op('i32', 0x6b),
  mul: op('i32', 0x6c),
  and: op('i32', 0x71),
  or: op('i32', 0x72),
  shl: op('i32', 0x74),
  shrU: op('i32', 0x76),
  eqz: op('i32', 0x45),
  eq: op('i32', 0x46),
  ne: op('i32', 0x47),
  ltS: op('i32', 0x48),
  ltU: op('i32', 0x49),
  geS: op('i32', 0x4e),
  load: load(0x28),
  load8: load(0x2d),
  store: store('i32', 0x36),
  store8: store('i32', 0x3a),
  wrap: op('i64', 0xa7),
};

export const i64 = {
  add: op('i64', 0x7c),
  sub: op('i64', 0x7d),
  and: op('i64', 0x83),
  or: op('i64', 0x84),
  xor: op('i64', 0x85),
  shl: op('i64', 0x86),
  shrS: op('i64', 0x87),
  shrU: op('i64', 0x88),
  eqz: op('i64', 0x50),
  load: load(0x29),
  store: store('i64', 0x37),
  truncate: op('f64', 0xb0),
};

export const f64 = {
  abs: op('f64', 0x99),
  add: op('f64', 0xa0),
  sub: op('f64', 0xa1),
  mul: op('f64', 0xa2),
  div: op('f64', 0xa3),
  eq: op('f64', 0x61),
  ne: op('f64', 0x62),
  lt: op('f64', 0x63),
  gt: op('f64', 0x64),
  ge: op('f64', 0x66),
  load: load(0x2b),
  store: store('f64', 0x39),
  ofI64: op('i64', 0xb9),
};

export const v128 = {
  load: load(0xfd, 0),
  loadSplat8: load(0xfd, 7),
  loadSplat64: load(0xfd, 10),
  store: store('v128', 0xfd, 11),
  and: simd(0x4e),
  andNot: simd(0x4f),
  or: simd(0x50),
  /** Bits of the first operand where the third has ones, of the second elsewhere. */
  select: simd(0x52),
  isAny: simd(0x53),
  /** Bytes of two vectors: 0 to 15 of the first, 16 to 31 of the second. */
  shuffle: (a: Operand, b: Operand, bytes: readonly number[]): Code => [
    ...codeOf(a, 'v128'),
    ...codeOf(b, 'v128'),
    0xfd,
    13,
    ...bytes,
  ],
};

export const i8x16 = { splat: simd(15, 'i32'), gtS: simd(0x27), add: simd(0x6e), sub: simd(0x71) };

export const i32x4 = {
  splat: simd(17, 'i32'),
  geS: simd(0x3f),
  sub: simd(0xb1),
  lane: lane(0x1b),
  /** Truncated and saturated, into the two lower lanes. */
  ofF64x2: simd(0xfc),
};

/** Shifts of 64-bit lanes by a constant. */
const shift64 =
  (opcode: number) =>
  (operand: Operand, by: number): Code => [
    ...codeOf(operand, 'v128'),
    ...codeOf(by, 'i32'),
    0xfd,
    ...unsigned(opcode),
  ];

export const i64x2 = {
  splat: simd(18, 'i64'),
  add: simd(0xce),
  sub: simd(0xd1),
  shl: shift64(0xcb),
  shrU: shift64(0xcd),
  lane: lane(0x1d),
  ofLowI32x4: simd(0xc7),
};

export const f32x4 = {
  /** A double rounded to single precision, in each lane. */
  splat: (value: Operand): Code => [...codeOf(value, 'f64'), 0xb6, 0xfd, 19],
  lt: simd(0x43),
  add: simd(0xe4),
  mul: simd(0xe6),
  ofI32x4: simd(0xfa),
};

export const f64x2 = {
  splat: simd(20, 'f64'),
  lane: lane(0x21),
  abs: simd(0xec),
  floor: simd(0x75),
  trunc: simd(0x7a),
  add: simd(0xf0),
  sub: simd(0xf1),
  mul: simd(0xf2),
  div: simd(0xf3),
  min: simd(0xf4),
  max: simd(0xf5),
  eq: simd(0x47),
  lt: simd(0x49),
  gt: simd(0x4a),
  le: simd(0x4b),
  ge: simd(0x4c),
  ofLowI32x4: simd(0xfe),
};

/** The first operand when the condition is not 0, else the second. Constants have the type `type`. */
export const choose = (type: Type, a: Operand, b: Operand, condition: Operand): Code => [
  ...codeOf(a, type),
  ...codeOf(b, type),
  ...codeOf(condition, 'i32'),
  0x1b,
];

export const call = (index: number, type: Type, ...operands: readonly Operand[]): Code => [
  ...operands.flatMap((operand) => codeOf(operand, type)),
  0x10,
  ...unsigned(index),
];

/** Fills `length` bytes with 0. */
export const clear = (address: Operand, length: Operand): Code => [
  ...codeOf(address, 'i32'),
  0x41,
  0,
  ...codeOf(length, 'i32'),
  0xfc,
  0x0b,
  0,
];

/** Copies `length` bytes. */
export const copy = (to: Operand, from: Operand, length: Operand): Code => [
  ...op('i32')(to, from, length),
  0xfc,
  0x0a,
  0,
  0,
];

export const when = (condition: Operand, ...body: readonly Code[]): Code => [
  ...codeOf(condition, 'i32'),
  0x04,
  0x40,
  ...body.flat(),
  0x0b,
];

/** Repeats the body while the condition, tested after it, is not 0. */
export const repeatWhile = (condition: Operand, ...body: readonly Code[]): Code => [
  0x03,
  0x40,
  ...body.flat(),
  ...codeOf(condition, 'i32'),
  0x0d,
  0,
  0x0b,
];

/** For `variable` (unsigned) from `from` while it is below `to`, with a constant step. */
export const range = (
  variable: Variable,
  from: Operand,
  to: Operand,
  step: number,
  ...body: readonly Code[]
): Code => [
  ...variable.set(from),
  ...when(
    i32.ltU(variable, to),
    repeatWhile(i32.ltU(variable, to), ...body, variable.set(i32.add(variable, step))),
  ),
];
