/**
 * Objectives as expressions of metrics: names, numbers, unary minus, + - * /, parentheses, and the functions below. The parser is the
 * shunting-yard algorithm (Dijkstra 1961): it takes each token once and has its own stack, so depth costs no recursion.
 */

/** Characters of an expression. */
const MAX_EXPRESSION = 500;

/** An expression that cannot be read. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** Number of characters before the problem. */
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} at position ${position}`);
    this.position = position;
  }
}

/** Number of arguments of each function; `min` and `max` take two or more. */
const FUNCTIONS = {
  min: { least: 2, most: Number.POSITIVE_INFINITY, of: (values: readonly number[]) => Math.min(...values) },
  max: { least: 2, most: Number.POSITIVE_INFINITY, of: (values: readonly number[]) => Math.max(...values) },
  abs: { least: 1, most: 1, of: ([value]: readonly number[]) => Math.abs(value!) },
  sqrt: { least: 1, most: 1, of: ([value]: readonly number[]) => Math.sqrt(value!) },
  log: { least: 1, most: 1, of: ([value]: readonly number[]) => Math.log(value!) },
} as const;
type FunctionName = keyof typeof FUNCTIONS;

const BINARY = {
  '+': { rank: 1, of: (a: number, b: number) => a + b },
  '-': { rank: 1, of: (a: number, b: number) => a - b },
  '*': { rank: 2, of: (a: number, b: number) => a * b },
  '/': { rank: 2, of: (a: number, b: number) => a / b },
} as const;
type BinaryName = keyof typeof BINARY;
/** Binds tighter than every binary operator. */
const NEGATION_RANK = 3;

/** Step of the evaluation, in postfix order. */
type Step =
  | { readonly number: number }
  | { readonly metric: string }
  | { readonly binary: BinaryName }
  | { readonly call: FunctionName; readonly arguments: number }
  | 'negate';

/** A parsed expression. */
export interface Expression {
  readonly steps: readonly Step[];
  /** Names of the metrics, each once. */
  readonly metrics: readonly string[];
}

interface Token {
  readonly kind: 'number' | 'name' | 'symbol';
  readonly text: string;
  readonly position: number;
}

export const TOKEN =
  /\s*(?:(?<number>\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)|(?<name>[a-z_]\w*)|(?<symbol>[-+*/(),]))/iy;

function* tokensOf(text: string): Generator<Token> {
  const pattern = new RegExp(TOKEN);
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const from = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (!groups) {
      const position = from + (text.slice(from).length - text.slice(from).trimStart().length);
      throw new ExpressionError(`Unexpected ${JSON.stringify(text[position])}`, position);
    }
    const kind = groups.number !== undefined ? 'number' : groups.name !== undefined ? 'name' : 'symbol';
    yield { kind, text: groups[kind]!, position: pattern.lastIndex - groups[kind]!.length };
  }
}

/** Entry of the operator stack: an operator, a negation, or an open parenthesis with its function. */
type Pending =
  | { readonly binary: BinaryName }
  | { readonly negation: true }
  | { readonly open: Token; readonly call: FunctionName | null; commas: number };

/**
 * Parses an expression in time linear to its length.
 *
 * @param isMetric true for the name of a metric
 * @throws ExpressionError with the position
 */
export function parseExpression(text: string, isMetric: (name: string) => boolean): Expression {
  if (text.length > MAX_EXPRESSION) {
    throw new ExpressionError(`The expression has more than ${MAX_EXPRESSION} characters`, MAX_EXPRESSION);
  }
  const parser = new Parser(isMetric);
  for (const token of tokensOf(text)) parser.take(token);
  return parser.end(text.length);
}

class Parser {
  readonly #isMetric: (name: string) => boolean;
  readonly #steps: Step[] = [];
  readonly #pending: Pending[] = [];
  readonly #metrics = new Set<string>();
  /** True where a value must come, false where an operator must. */
  #needsValue = true;
  /** Function whose parenthesis must come next. */
  #called: { readonly name: FunctionName; readonly token: Token } | undefined;

  constructor(isMetric: (name: string) => boolean) {
    this.#isMetric = isMetric;
  }

  take(token: Token): void {
    if (this.#called && token.text !== '(') {
      throw new ExpressionError(`${this.#called.name} needs parentheses`, this.#called.token.position);
    }
    if (this.#needsValue) this.#takeValue(token);
    else this.#takeOperator(token);
  }

  #takeValue(token: Token): void {
    const { kind, text, position } = token;
    if (text === '-') this.#pending.push({ negation: true });
    else if (text === '(') {
      this.#pending.push({ open: token, call: this.#called?.name ?? null, commas: 0 });
      this.#called = undefined;
    } else if (kind === 'number') this.#value({ number: Number(text) });
    else if (kind === 'name' && this.#isMetric(text)) {
      this.#metrics.add(text);
      this.#value({ metric: text });
    } else if (kind === 'name' && Object.hasOwn(FUNCTIONS, text)) {
      this.#called = { name: text as FunctionName, token };
    } else if (kind === 'name') throw new ExpressionError(`Unknown metric ${text.slice(0, 60)}`, position);
    else throw new ExpressionError(`A value is missing before ${text}`, position);
  }

  #value(step: Step): void {
    this.#steps.push(step);
    this.#needsValue = false;
  }

  #takeOperator({ text, position, kind }: Token): void {
    if (text === ')') this.#close(position);
    else if (text === ',') this.#comma(position);
    else if (kind === 'symbol' && text !== '(') this.#operator(text as BinaryName);
    else throw new ExpressionError(`An operator is missing before ${text.slice(0, 60)}`, position);
  }

  #operator(binary: BinaryName): void {
    this.#reduce(BINARY[binary].rank);
    this.#pending.push({ binary });
    this.#needsValue = true;
  }

  /** Emits pending operators that bind at least as tightly, up to an open parenthesis. */
  #reduce(rank: number): void {
    for (;;) {
      const last = this.#pending.at(-1);
      if (!last || 'open' in last) return;
      const own = 'binary' in last ? BINARY[last.binary].rank : NEGATION_RANK;
      if (own < rank) return;
      this.#pending.pop();
      this.#steps.push('binary' in last ? { binary: last.binary } : 'negate');
    }
  }

  /** The innermost open parenthesis, whose content is complete. */
  #opened(problem: string, position: number) {
    this.#reduce(0);
    const last = this.#pending.at(-1);
    if (last && 'open' in last) return last;
    throw new ExpressionError(problem, position);
  }

  #comma(position: number): void {
    const opened = this.#opened('A comma is outside of a function', position);
    if (!opened.call) throw new ExpressionError('A comma is outside of a function', position);
    opened.commas++;
    this.#needsValue = true;
  }

  #close(position: number): void {
    const { call, commas, open } = this.#opened('A parenthesis is closed that was not opened', position);
    this.#pending.pop();
    if (!call) return;
    const { least, most } = FUNCTIONS[call];
    const given = commas + 1;
    if (given < least || given > most) {
      const wanted = least === most ? `${least} value` : `${least} or more values`;
      throw new ExpressionError(`${call} takes ${wanted}, not ${given}`, open.position);
    }
    this.#steps.push({ call, arguments: given });
  }

  end(length: number): Expression {
    if (this.#called) {
      throw new ExpressionError(`${this.#called.name} needs parentheses`, this.#called.token.position);
    }
    if (this.#needsValue) throw new ExpressionError('A value is missing', length);
    this.#reduce(0);
    const last = this.#pending.at(-1);
    if (last && 'open' in last) throw new ExpressionError('A parenthesis is not closed', last.open.position);
    return { steps: this.#steps, metrics: [...this.#metrics] };
  }
}

/** Value of an expression, which may be infinite or NaN. @param metricOf value of each of its metrics */
export function evaluateExpression({ steps }: Expression, metricOf: (metric: string) => number): number {
  const stack: number[] = [];
  for (const step of steps) {
    if (step === 'negate') stack.push(-stack.pop()!);
    else if ('number' in step) stack.push(step.number);
    else if ('metric' in step) stack.push(metricOf(step.metric));
    else if ('call' in step) {
      stack.push(FUNCTIONS[step.call].of(stack.splice(stack.length - step.arguments)));
    } else {
      const right = stack.pop()!;
      stack.push(BINARY[step.binary].of(stack.pop()!, right));
    }
  }
  return stack[0]!;
}
