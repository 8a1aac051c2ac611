import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Allowed imports of a folder. The first rule whose folder contains a file applies. */
interface Rule {
  readonly folder: string;
  /** Folders and files of the project, in addition to the rule's folder. */
  readonly project: readonly string[];
  /** Folders from which it may import only types. */
  readonly types?: readonly string[];
  /** Packages, including `node:*`; a trailing `*` matches any suffix. */
  readonly packages: readonly string[];
  /** Rejects access to clock, randomness and process, so that results depend only on inputs. */
  readonly noClock?: true;
  /** Folders in `project` that it must not import. */
  readonly except?: readonly string[];
}

const ANY = ['*'];
const DOMAIN: Rule = {
  folder: 'src/domain',
  project: ['src/domain', 'src/engine', 'src/contract'],
  packages: [],
  noClock: true,
};
/** Packages of the dashboard. None of them violates its content policy. */
const BROWSER_PACKAGES = [
  'react',
  'react-dom',
  'react-dom/*',
  '@tanstack/*',
  'uplot',
  'uplot/*',
  'lightweight-charts',
  'lucide-react',
  'eventsource-parser',
  'oauth4webapi',
];
const RULES: readonly Rule[] = [
  // Bounds, defaults, labels and texts without zod: the engine imports their values, and only types from the rest of the contract.
  { folder: 'src/contract/values/limits.ts', project: [], packages: [] },
  { folder: 'src/contract/values/metric-labels.ts', project: [], packages: [] },
  { folder: 'src/contract/values/protection-limits.ts', project: [], packages: [] },
  { folder: 'src/contract/values/account-limits.ts', project: [], packages: [] },
  { folder: 'src/contract/values/signals-limits.ts', project: [], packages: [] },
  { folder: 'src/contract/values/trading-modes.ts', project: [], packages: [] },
  { folder: 'src/contract/values/slippage-limits.ts', project: [], packages: [] },
  {
    folder: 'src/contract/values/fold-warnings.ts',
    project: ['src/contract/values/trading-modes.ts'],
    packages: [],
  },
  { folder: 'src/contract/values/format-count.ts', project: [], packages: [] },
  { folder: 'src/contract/values/currency.ts', project: [], packages: [] },
  {
    folder: 'src/contract/values/unknown-robustness.ts',
    project: [],
    types: ['src/contract/backtests/report-robustness.ts'],
    packages: [],
  },
  {
    folder: 'src/engine',
    project: [
      'src/contract/values/limits.ts',
      'src/contract/values/metric-labels.ts',
      'src/contract/values/protection-limits.ts',
      'src/contract/values/account-limits.ts',
      'src/contract/values/format-count.ts',
      'src/contract/values/signals-limits.ts',
      'src/contract/values/slippage-limits.ts',
      'src/contract/values/trading-modes.ts',
    ],
    types: ['src/contract'],
    packages: [],
    noClock: true,
  },
  { folder: 'strategies', project: ['src/engine'], packages: [], noClock: true },
  { folder: 'src/contract', project: [], packages: ['zod'] },
  // Stage transitions are below registry and challenges, which do not import each other.
  { ...DOMAIN, folder: 'src/domain/transitions', except: ['src/domain/registry', 'src/domain/challenges'] },
  { ...DOMAIN, folder: 'src/domain/registry', except: ['src/domain/challenges'] },
  { ...DOMAIN, folder: 'src/domain/challenges', except: ['src/domain/registry'] },
  DOMAIN,
  {
    folder: 'src/adapters',
    project: ['src/domain', 'src/contract', 'src/engine'],
    packages: ANY,
  },
  {
    folder: 'src/runtime',
    project: ['src/contract', 'src/domain', 'package.json'],
    packages: [
      'node:*',
      '@middy/*',
      '@aws-lambda-powertools/*',
      'aws-jwt-verify/*',
      'hono',
      'hono/*',
      '@hono/*',
      'aws-lambda',
      'zod',
    ],
  },
  // Programs of others bundle it: what it imports is part of their size.
  { folder: 'src/client', project: [], types: ['src/contract'], packages: [] },
  { folder: 'src', project: ['src', 'package.json'], packages: ANY },
  { folder: 'lambdas', project: ['src'], packages: ANY },
  {
    folder: 'lib',
    project: ['src/contract', 'src/engine/nearest-name.ts', 'package.json'],
    packages: ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs', 'cdk-nag', 'cdk-nag/*', 'zod', 'node:*'],
  },
  {
    folder: 'web/vite.config.ts',
    project: [
      'src/contract',
      'src/engine/metrics',
      'src/engine/walk-forward/objectives.ts',
      'web/report-file.ts',
    ],
    packages: ['vite', 'node:*'],
  },
  {
    folder: 'web/report-file.ts',
    project: ['src/contract/backtests/report-file.ts'],
    packages: ['vite', 'node:*'],
  },
  // The browser gets types of the contract, and of its values only those of files that import no zod.
  {
    folder: 'web',
    project: [
      'src/contract/values/currency.ts',
      'src/contract/values/fold-warnings.ts',
      'src/contract/values/format-count.ts',
      'src/contract/values/repeated-config.ts',
      'src/contract/values/unknown-robustness.ts',
    ],
    types: ['src/contract'],
    packages: [...BROWSER_PACKAGES, 'virtual:*'],
  },
  { folder: 'bin/app.ts', project: ['lib'], packages: ['aws-cdk-lib', 'cdk-nag', 'node:path'] },
  { folder: 'bin/operate/cost.ts', project: ['lib'], packages: ['node:*'] },
];
/** Only these folders may import the CDK, which must not be in a bundle. */
const HOLDS_CDK = new Set(['lib', 'bin/app.ts']);
const CDK = /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/;
const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bglobalThis\b|\bprocess\./;

/** Violations in one file, one line each. */
export function importProblems(file: string, imports: Readonly<Record<string, string>>): string[] {
  const rule = RULES.find(({ folder }) => isWithin(file, folder));
  if (!rule) return [];
  const source = readFileSync(file, 'utf8');
  const text = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const problems = specifiersOf(file, source)
    .filter((each) => !isAllowed(file, each, rule, imports))
    .map(({ specifier }) => `${file} must not import ${specifier}`);
  const clock = rule.noClock && CLOCK.exec(text);
  return clock
    ? [...problems, `${file} must not use ${clock[0]}: clock and randomness are injected`]
    : problems;
}

interface Import {
  /** For a dynamic import without a string literal, its expression. */
  readonly specifier: string;
  readonly isType: boolean;
}

/** All imports and re-exports of a file. */
function specifiersOf(file: string, source: string): Import[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  return [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
    })),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, isType }] : [],
      ),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      specifier: source.slice(start, end).replaceAll(/^'|'$/g, ''),
      isType: false,
    })),
  ];
}

function isAllowed(
  file: string,
  { specifier, isType }: Import,
  rule: Rule,
  imports: Readonly<Record<string, string>>,
): boolean {
  const target = projectPath(file, specifier, imports);
  if (target !== undefined) {
    const folders = [rule.folder, ...rule.project, ...(isType ? (rule.types ?? []) : [])];
    const isExcepted = rule.except?.some((folder) => isWithin(target, folder)) ?? false;
    return !isExcepted && folders.some((folder) => isWithin(target, folder));
  }
  if (!HOLDS_CDK.has(rule.folder) && CDK.test(specifier)) return false;
  return rule.packages.some((name) =>
    name.endsWith('*') ? specifier.startsWith(name.slice(0, -1)) : specifier === name,
  );
}

/** Path of an import in the project; undefined for a package. */
function projectPath(
  file: string,
  specifier: string,
  imports: Readonly<Record<string, string>>,
): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  const alias = Object.keys(imports).find((key) => specifier.startsWith(key.slice(0, -1)));
  return alias && normalize(specifier.replace(alias.slice(0, -1), imports[alias]!.slice(0, -1)));
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
