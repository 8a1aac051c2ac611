/**
 * Variables of the environments in env.ts. They do not use zod: every function reads its environment at its start, where loading zod
 * and building such a schema takes 17 ms, half as long as loading DynamoDB's client.
 */
import type { NumberBounds } from '../values/bounds.ts';

/** A variable that must be set. */
export interface Variable<Value = unknown, Text extends string = string> {
  /**
   * Value of a text.
   *
   * @throws Error that says what the text must be, without the text: it may be a secret
   */
  readonly parse: (text: string) => Value;
  /** The allowed texts; absent: every text that `parse` accepts. */
  readonly texts?: readonly Text[];
}

/** A variable that may be absent. */
export interface OptionalVariable<Value = unknown, Text extends string = string>
  extends Variable<Value, Text> {
  /** Value of an absent variable. */
  readonly fallback: Value;
}

export type Variables = Readonly<Record<string, Variable>>;

/** The environment that an entry point reads. */
export interface EnvDeclaration<V extends Variables = Variables> {
  readonly variables: V;
  /** Problems of variables with each other: what each named variable must be. Called when every variable has been parsed. */
  readonly check?: (
    values: Readonly<Record<string, unknown>>,
  ) => readonly { readonly name: string; readonly message: string }[];
}

/** Values that an entry point reads. */
export type EnvValues<V extends Variables> = {
  readonly [K in keyof V]: V[K] extends Variable<infer Value> ? Value : never;
};
export type EnvOf<E extends EnvDeclaration> = EnvValues<E['variables']>;

type TextOf<V> = V extends Variable<unknown, infer Text> ? Text : never;
type OptionalName<V> = { [K in keyof V]: V[K] extends OptionalVariable ? K : never }[keyof V];

/** Texts that a stack sets for an entry point. */
export type EnvInput<E extends EnvDeclaration> = EnvTexts<E['variables']>;
type EnvTexts<V extends Variables> = {
  [K in Exclude<keyof V, OptionalName<V>>]: TextOf<V[K]>;
} & { [K in OptionalName<V>]?: TextOf<V[K]> | undefined };

export function optional<Value, Text extends string>(
  variable: Variable<Value, Text>,
): OptionalVariable<Value | undefined, Text> {
  return { ...variable, fallback: undefined };
}

export function withDefault<Value, Text extends string>(
  variable: Variable<Value, Text>,
  fallback: NoInfer<Value>,
): OptionalVariable<Value, Text> {
  return { ...variable, fallback };
}

/** Any text. An empty variable counts as absent. */
export const text: Variable<string> = { parse: (text) => text };

/** Comma separated. */
export const list: Variable<string[]> = { parse: (text) => text.split(',') };

export function matching(pattern: RegExp, message: string): Variable<string> {
  return { parse: (text) => check(text, pattern.test(text), message) };
}

/** At least 16 characters, so that it cannot be guessed. */
export const secret: Variable<string> = {
  parse: (text) => check(text, text.length >= 16, 'must have at least 16 characters'),
};

export function oneOf<const Text extends string>(...texts: readonly Text[]): Variable<Text, Text> {
  return {
    texts,
    parse: (text) =>
      check(text as Text, (texts as readonly string[]).includes(text), `must be one of ${texts.join(', ')}`),
  };
}

/** `true` or `false`. */
export const flag: Variable<boolean, 'true' | 'false'> = mapped(
  oneOf('true', 'false'),
  (text) => text === 'true',
);

export const url: Variable<string> = {
  parse: (text) => check(text.trim(), URL.canParse(text), 'must be a URL'),
};

export const httpUrl: Variable<string> = {
  parse: (text) => check(url.parse(text), /^\s*https?:/i.test(text), 'must be a URL of http or https'),
};

/** An integer from `min`, 0 or more, to `max`. */
export function digits(bounds: NumberBounds): Variable<number> {
  return mapped(matching(/^\d{1,9}$/, 'must be an integer'), (text) =>
    within(Number(text), { ...bounds, integer: true }),
  );
}

export function integer(fallback: number, bounds: NumberBounds): OptionalVariable<number> {
  return withDefault(digits(bounds), fallback);
}

/** A decimal number, optionally signed. */
export function decimal(bounds: NumberBounds): OptionalVariable<number | undefined> {
  const number = matching(/^-?\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number');
  return optional(mapped(number, (text) => within(Number(text), bounds)));
}

export function mapped<From, To, Text extends string>(
  variable: Variable<From, Text>,
  map: (value: From) => To,
): Variable<To, Text> {
  return { ...variable, parse: (text) => map(variable.parse(text)) };
}

function within(value: number, { min, max, integer }: NumberBounds): number {
  const fits = value >= min && value <= max && (!integer || Number.isInteger(value));
  return check(value, fits, `must be ${integer ? 'an integer' : 'a number'} from ${min} to ${max}`);
}

function check<T>(value: T, fits: boolean, message: string): T {
  if (!fits) throw new Error(message);
  return value;
}
