/**
 * A small assembler of WebAssembly modules: functions are written as expressions of the operations in `operations.ts`. The
 * engine validates the types. (WebAssembly Core Specification 2.0, chapter 5.)
 */

/** Instructions in the binary format. */
export type Code = readonly number[];

export type Type = 'i32' | 'i64' | 'f64' | 'v128';

const TYPES: Readonly<Record<Type, number>> = { i32: 0x7f, i64: 0x7e, f64: 0x7c, v128: 0x7b };

type Types = Readonly<Record<string, Type>>;

/** A parameter or a local variable. */
export interface Variable {
  readonly get: Code;
  set(value: Operand): Code;
}

/** Operand of an operation. A number is a constant of the operation's type. */
export type Operand = Code | Variable | number | bigint;

/** A function of a module. Locals begin as 0. */
export interface FunctionSource {
  readonly parameters: readonly Type[];
  readonly locals: readonly Type[];
  readonly result: Type | null;
  /** Made by a call, because most processes import the functions and use none. */
  readonly body: () => Code;
}

/** Defines a function. `body` gets its variables by name; the last expression leaves the result. */
export function define<P extends Types, L extends Types>(
  parameters: P,
  locals: L,
  result: Type | null,
  body: (variables: Readonly<Record<keyof P | keyof L, Variable>>) => readonly Code[],
): FunctionSource {
  const types = Object.entries<Type>({ ...parameters, ...locals });
  const variables = types.map(([name, type], index): [string, Variable] => {
    const at = unsigned(index);
    return [name, { get: [0x20, ...at], set: (value) => [...codeOf(value, type), 0x21, ...at] }];
  });
  return {
    parameters: Object.values(parameters),
    locals: Object.values(locals),
    result,
    body: () => body(Object.fromEntries(variables) as Parameters<typeof body>[0]).flat(),
  };
}

/** Instructions that leave the operand's value. */
export function codeOf(operand: Operand, type: Type): Code {
  if (typeof operand === 'object') return 'get' in operand ? operand.get : operand;
  if (type === 'i32') return [0x41, ...signed(BigInt(operand))];
  if (type === 'i64') return [0x42, ...signed(BigInt(operand))];
  if (type === 'f64') return [0x44, ...new Uint8Array(Float64Array.of(Number(operand)).buffer)];
  throw new TypeError('A vector constant is made by a splat.');
}

/** Unsigned LEB128. */
export function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...unsigned(Math.floor(value / 128))];
}

/** Signed LEB128. */
function signed(value: bigint): number[] {
  if (value >= -64n && value < 64n) return [Number(value & 127n)];
  return [Number(value & 127n) + 128, ...signed(value >> 7n)];
}

const vector = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, items: readonly Code[]): number[] => {
  const content = vector(items);
  return [id, ...unsigned(content.length), ...content];
};
const nameOf = (text: string): number[] => vector([...text].map((letter) => [letter.charCodeAt(0)]));
const typesOf = (types: readonly Type[]): number[] => vector(types.map((type) => [TYPES[type]]));
const signature = ({ parameters, result }: Pick<FunctionSource, 'parameters' | 'result'>): Code => [
  0x60,
  ...typesOf(parameters),
  ...typesOf(result ? [result] : []),
];

/** An imported function, by its index in `call`. */
export interface Import {
  readonly name: string;
  readonly parameters: readonly Type[];
  readonly result: Type | null;
}

/** Magic number and version of the binary format. */
const MODULE_HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** Module in the binary format. It exports every function by its name, and its memory as `memory`. */
export function assemble(
  imports: readonly Import[],
  functions: Readonly<Record<string, FunctionSource>>,
): Uint8Array<ArrayBuffer> {
  const sources = Object.values(functions);
  const exported = Object.keys(functions).map((name, index) => [
    ...nameOf(name),
    0x00,
    ...unsigned(imports.length + index),
  ]);
  return Uint8Array.from([
    ...MODULE_HEADER,
    ...section(1, [...imports, ...sources].map(signature)),
    ...section(
      2,
      imports.map(({ name }, index) => [...nameOf('imports'), ...nameOf(name), 0x00, ...unsigned(index)]),
    ),
    ...section(
      3,
      sources.map((_, index) => unsigned(imports.length + index)),
    ),
    ...section(5, [[0x00, 0x01]]),
    ...section(7, [...exported, [...nameOf('memory'), 0x02, 0x00]]),
    ...section(
      10,
      sources.map(({ locals, body }) => {
        const content = [...vector(locals.map((type) => [1, TYPES[type]])), ...body(), 0x0b];
        return [...unsigned(content.length), ...content];
      }),
    ),
  ]);
}
