import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';

const MAX_PARAMETERS = 5;
const MAX_LINES = 60;
/** Formulas over numbers, called for every candle: an object per call would cost time. */
const KERNELS = ['src/engine/indicators/', 'src/engine/ml/gbdt/', 'src/engine/simulator/rules/'];
/** Words between a comment and the name or `function` that it is about. */
const BETWEEN = /^\s*((export|default|const|async|static|override|readonly)\s+)*$/;

interface Sized {
  readonly start: number;
  readonly end: number;
  readonly params: { readonly length: number };
}

/** Functions with many parameters or lines and without a reason in their comment, one line each. */
export function functionProblems(file: string): string[] {
  if (KERNELS.some((folder) => file.startsWith(folder))) return [];
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  const lineOf = (at: number) => text.slice(0, at).split('\n').length;
  const problems: string[] = [];
  const check = (name: string, start: number, { end, params, ...sized }: Sized) => {
    const comment = comments.findLast(
      (each) => each.end <= start && BETWEEN.test(text.slice(each.end, start)),
    );
    const says = (reason: string) => comment?.value.replaceAll(/[\s*]+/g, ' ').includes(reason);
    const line = lineOf(sized.start);
    const lines = lineOf(end) - line + 1;
    const report = (size: string, reason: string) =>
      problems.push(`${file}:${line}: ${name} has ${size}: split it, or say "${reason} ..." before it`);
    if (params.length > MAX_PARAMETERS && !says(MANY)) report(`${params.length} parameters`, MANY);
    if (lines > MAX_LINES && !says(LONG)) report(`${lines} lines`, LONG);
  };
  new Visitor({
    FunctionDeclaration: (node) => check(node.id?.name ?? 'default', node.start, node),
    MethodDefinition: ({ key, start, value }) => check(text.slice(key.start, key.end), start, value),
    VariableDeclarator: ({ id, start, init }) => {
      if (init && isFunction(init)) check(text.slice(id.start, id.end), start, init);
    },
    Property: ({ key, start, value }) => {
      if (isFunction(value)) check(text.slice(key.start, key.end), start, value);
    },
  }).visit(program);
  return problems;
}

const MANY = 'More than five arguments because';
const LONG = 'Long because';

function isFunction<T extends { readonly type: string }>(
  node: T,
): node is T & { readonly type: 'FunctionExpression' | 'ArrowFunctionExpression' } {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
}
