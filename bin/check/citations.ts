import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Places in documents that the repository does not have. A standard has a name: `RFC 9110, section 5.6.1`. */
const OUTSIDE =
  /\b(?:reference|interface|design),?\s+(?:20\d\d\.\d+,\s+)?\(?(?:sections?\s+)?\d+(?:\.\d+)*|(?<!\b(?:RFC|APPNOTE)\b[^()]{0,60})(?:\bsections?|§)\s*\d+(?:\.\d+)*|\brules?\s+\d+\.\d+/gi;
/** The same without a word, in comments only: in a page it may be a number. */
const BARE = /(?<=\()[1-9]\d?\.[1-9]\d?(?=\)|[,;:]\s|\s+of\s)/g;
/** A file by its name, or by the end of its path; not in a longer path, a pattern or an address. */
const FILE =
  /(?<![\w@./*>}-])(?![\w-]+\.(?:com|org|io)\/)(?:[\w@.-]+\/)*\w[\w.-]*\.(?:tsx?|md|py|grit|jsonl)\b(#[\w-]+)?/g;
/** A path whose first folder may be one of the repository. */
const PATH = /(?<![\w@./*>}-])([\w.-]+)\/[\w./-]*/g;
const DECISION = /\bdecisions?\s+\[?(\d{3})\b/gi;
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(#[\w-]+)?\)/g;
/** Files of examples, which a reader has or writes. */
const EXAMPLE = /(?:^|\/)(?:my_\w+|mine|test\/strategies\.test)\.ts$/;

/**
 * Citations that lead nowhere, one line each: files, folders, headings and decisions that do not exist, and places in documents
 * outside of the repository. Pages are read, and the comments of code.
 *
 * @param files all of the repository
 */
export function citationProblems(files: readonly string[]): string[] {
  const repository = new Repository(files);
  return files.flatMap((file) => {
    const text = proseOf(file);
    const lineOf = (index: number) => text.slice(0, index).split('\n').length;
    const problems = repository.problemsIn(file, text);
    return [...new Set(problems.map(([index, problem]) => `${file}:${lineOf(index)}: ${problem}`))];
  });
}

type Problem = readonly [index: number, problem: string];

class Repository {
  /** Files and folders. */
  readonly #paths = new Set<string>();
  /** Files by every end of their path. */
  readonly #ends = new Set<string>();
  readonly #headings = new Map<string, ReadonlySet<string>>();

  constructor(files: readonly string[]) {
    for (const file of files) {
      const names = file.split('/');
      for (const index of names.keys()) {
        this.#paths.add(names.slice(0, index + 1).join('/'));
        this.#ends.add(names.slice(index).join('/'));
      }
    }
    const decisions = files.flatMap((file) => /^docs\/decisions\/\d{3}(?=-)/.exec(file) ?? []);
    for (const decision of decisions) this.#paths.add(decision);
  }

  problemsIn(file: string, text: string): Problem[] {
    const isPage = file.endsWith('.md');
    const find = (pattern: RegExp, problemOf: (match: RegExpExecArray) => string | null) =>
      [...text.matchAll(pattern)].flatMap((match): Problem[] => {
        const problem = problemOf(match);
        return problem === null ? [] : [[match.index, problem]];
      });
    const outside = ([cited]: RegExpExecArray) =>
      `"${cited.replaceAll(/\s+/g, ' ')}" is not in the repository`;
    return [
      ...find(OUTSIDE, outside),
      ...(isPage ? [] : find(BARE, outside)),
      ...find(FILE, ([cited, heading = '']) => this.#fileProblem(cited.replace(heading, ''), heading)),
      ...find(PATH, ([cited, folder]) =>
        this.#paths.has(folder!) ? this.#pathProblem(cited.replace(/[./-]+$/, '')) : null,
      ),
      ...find(DECISION, ([, number]) => this.#pathProblem(`docs/decisions/${number}`)),
      ...(isPage ? find(LINK, ([, path, heading]) => this.#linkProblem(file, path!, heading)) : []),
    ];
  }

  #fileProblem(cited: string, heading: string): string | null {
    const file = cited.replace(/^(?:\.\.?\/)+/, '');
    if (!this.#ends.has(file)) return EXAMPLE.test(file) ? null : `${cited} does not exist`;
    return heading === '' || !this.#paths.has(file) ? null : this.#headingProblem(file, heading);
  }

  /** A test may be named without its ending. */
  #pathProblem(path: string): string | null {
    const names = [path, `${path}.test.ts`, `${path}.full.test.ts`];
    return EXAMPLE.test(path) || names.some((name) => this.#paths.has(name))
      ? null
      : `${path} does not exist`;
  }

  #linkProblem(page: string, path: string, heading: string | undefined): string | null {
    const target = path === '' ? page : normalize(join(dirname(page), path)).replace(/\/$/, '');
    if (!this.#paths.has(target)) return `${path} does not exist`;
    return heading === undefined ? null : this.#headingProblem(target, heading);
  }

  #headingProblem(page: string, heading: string): string | null {
    let headings = this.#headings.get(page);
    if (headings === undefined) {
      headings = new Set([...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, text]) => slugOf(text!)));
      this.#headings.set(page, headings);
    }
    return headings.has(heading) ? null : `${page} has no heading ${heading}`;
  }
}

/** The anchor of a heading, as GitHub and npm make it. */
function slugOf(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
  return `#${words.replaceAll(' ', '-')}`;
}

/** The text of a page without its code, or the comments of code; everything else is blank, so that lines keep their numbers. */
function proseOf(file: string): string {
  const isPython = file.endsWith('.py');
  if (file.startsWith('templates/') || !(isPython || /\.(?:md|tsx?|cjs)$/.test(file))) return '';
  const source = readFileSync(file, 'utf8');
  if (file.endsWith('.md')) return source.replaceAll(/^```[\s\S]*?^```$/gm, blank);
  const comments = isPython
    ? [...source.matchAll(/#.*|"""[\s\S]*?"""/g)].map(({ index, 0: found }) => ({
        start: index,
        end: index + found.length,
      }))
    : parseSync(file, source).comments;
  let text = '';
  let from = 0;
  for (const { start, end } of comments) {
    text += blank(source.slice(from, start));
    text += source.slice(start, end).replaceAll(/^[ \t]*\*(?!\/)|^\/[/*]+|\*\/$/gm, blank);
    from = end;
  }
  return text;
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
