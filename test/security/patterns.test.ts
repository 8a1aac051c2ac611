import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { parseSync, Visitor } from 'oxc-parser';
import { getFirstConsumedChar } from 'regexp-ast-analysis';
import { analyse } from 'scslre';
import { expect, it } from 'vitest';
import { JOB_EVENT_ID } from '#contract/platform/job-events-api.ts';
import { EVENT_SELECTION } from '#contract/values/event-types.ts';
import { SYMBOLS_IN_TEXT } from '#contract/values/fold-warnings.ts';
import { REFERENCE } from '#domain/registry/container-image.ts';
import { TOKEN } from '#engine/walk-forward/objective-expression.ts';

/**
 * Regular expressions take time linear in their input: a static analysis of backtracking checks each one of the sources.
 * The list below has the others, with the reason why they cannot be exploited.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/adapters/import/recognize.ts': 'the name of a file',
  'src/runtime/canary.ts': "the platform's own page",
  'bin/build/bundle-plugins.ts': 'the path of a source',
  'bin/build/bundle-task.ts': 'the path of a source',
  'src/adapters/health-probes.ts': 'the address of a service, a setting',
  'src/runtime/data-proxy/create-data-proxy.ts': 'the address of a service, a setting',
  'bin/cli/client.ts': 'the address of a service, an option of who runs the command',
  'src/engine/strategy-errors.ts': 'one line of a stack',
  'src/engine/simulator/rules/precision.ts': 'the 14 digits of a number',
  'src/client/connection.ts': 'the address of a service, an option of who makes the client',
  'src/contract/values/format-count.ts': 'the digits of a number',
  'bin/check/citations.ts': "the project's own sources",
  'bin/check/import-rules.ts': "the project's own sources",
  'bin/generate/python-client.ts': "the project's own sources",
};

const FOLDERS = ['src', 'lib', 'lambdas', 'bin', 'strategies'];

interface Found {
  readonly file: string;
  /** Pattern literal; undefined for a pattern built at run time. */
  readonly literal: RegExp | undefined;
}

function patternsOf(file: string): Found[] {
  const found: Found[] = [];
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  new Visitor({
    Literal(node) {
      if ('regex' in node) found.push({ file, literal: new RegExp(node.regex.pattern, node.regex.flags) });
    },
    NewExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') found.push({ file, literal: undefined });
    },
    CallExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') found.push({ file, literal: undefined });
    },
  }).visit(program);
  return found;
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
);
const patterns = files.flatMap(patternsOf);

it('analysis finds the regular expressions of the sources', () => {
  expect(patterns.length).toBeGreaterThan(40);
});

it('every literal pattern takes linear time or has bounded input', () => {
  const slow = patterns.filter(({ literal }) => literal && isSlow(literal));
  expect(slow.filter(({ file }) => !(file in BOUNDED))).toEqual([]);
  expect(Object.keys(BOUNDED).filter((file) => !slow.some((each) => each.file === file))).toEqual([]);
});

it('patterns built at run time use constants and take linear time', () => {
  const put = patterns.filter(({ literal }) => !literal).map(({ file }) => file);
  expect(put.sort()).toEqual([
    'bin/cli/output.ts',
    'bin/cli/preflight/account.ts',
    'src/contract/platform/job-events-api.ts',
    'src/contract/values/event-types.ts',
    'src/contract/values/fold-warnings.ts',
    'src/domain/registry/container-image.ts',
    'src/engine/walk-forward/objective-expression.ts',
  ]);
  expect(isSlow(JOB_EVENT_ID)).toBe(false);
  expect(isSlow(EVENT_SELECTION)).toBe(false);
  expect(isSlow(SYMBOLS_IN_TEXT)).toBe(false);
  expect(isSlow(REFERENCE)).toBe(false);
  expect(isSlow(TOKEN)).toBe(false);
  expect(isSlow(/(.{1,80})(?:\s+|$)/g)).toBe(false);
  expect(isSlow(/<Arn>([^<]*)<\/Arn>/g)).toBe(false);
});

it.each([/^(a+)+$/, /^(\w|\d)+!$/, /^(ab|a|b)*c$/, /^a*a*$/, /x+$/, /\bkey[\w-]{5,}\./])(
  'analysis detects the slow pattern %s',
  (pattern) => {
    expect(isSlow(pattern)).toBe(true);
  },
);

/** True for ambiguous patterns, whose backtracking tries all combinations. */
function isSlow(pattern: RegExp): boolean {
  return analyse(pattern).reports.length > 0 || hasAmbiguousRepeat(pattern) || beginsInsideItself(pattern);
}

/** True for a pattern that may begin again inside its own repeat: `key\w+!` reads a text of many keys once from each of them. */
function beginsInsideItself(pattern: RegExp): boolean {
  const { pattern: tree, flags } = new RegExpParser().parseLiteral(String(pattern));
  const charOf = (element: AST.Element) => getFirstConsumedChar(element, 'ltr', flags).char;
  const begins = ({ elements }: AST.Alternative): boolean => {
    const at = elements.findIndex((each) => each.type === 'Quantifier' && each.max > LONG);
    const before = elements.slice(0, Math.max(0, at));
    if (at < 0 || at === elements.length - 1) return false;
    if (before.some((each) => each.type === 'Assertion' && each.kind !== 'word')) return false;
    const repeated = charOf(elements[at]!);
    return before.every((each) => each.type === 'Assertion' || !charOf(each).isDisjointWith(repeated));
  };
  return !flags.sticky && tree.alternatives.some(begins);
}

/** Characters that a repeat may read from each beginning of its pattern. */
const LONG = 1_000;

/** Alternatives of a repeated group with a common prefix, which the analysis merges. */
function hasAmbiguousRepeat(pattern: RegExp): boolean {
  const { pattern: tree, flags } = new RegExpParser().parseLiteral(String(pattern));
  let ambiguous = false;
  visitRegExpAST(tree, {
    onQuantifierEnter({ element, max }) {
      if (max < 20 || !('alternatives' in element)) return;
      const first = element.alternatives.map((each) => getFirstConsumedChar(each, 'ltr', flags).char);
      ambiguous ||= first.some((one, index) =>
        first.slice(index + 1).some((other) => !one.isDisjointWith(other)),
      );
    },
  });
  return ambiguous;
}
