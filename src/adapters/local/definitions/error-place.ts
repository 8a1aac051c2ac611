/** Text of whatever was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export interface ErrorPlace {
  /** Line of the strategy file, from 1; null when unknown. */
  readonly line: number | null;
  /** `file:line` of another file in the folder where the error was thrown. */
  readonly elsewhere?: string;
}

/**
 * Place of an error that was thrown while `file` in `folder` was loaded. Syntax errors name it in the first line of their
 * stack, other errors in their frames; an import that cannot be resolved is searched in the source.
 */
export function placeIn(thrown: unknown, folder: string, file: string, source: string): ErrorPlace {
  const stack = thrown instanceof Error ? String(thrown.stack) : '';
  const places = stack.split('\n').flatMap((line) => {
    const start = line.indexOf(`${folder}/`);
    const found = start >= 0 && /^(.+?\.ts):(\d+)/.exec(line.slice(start + folder.length + 1));
    return found ? [{ file: found[1]!, line: Number(found[2]) }] : [];
  });
  const [first] = places;
  const own =
    places.find((place) => place.file === file)?.line ??
    lineOfImport(first?.file ?? quotedPath(errorText(thrown)), source);
  if (!first || first.file === file) return { line: own };
  return { line: own, elsewhere: `${first.file}:${first.line}` };
}

/** Path that the error of an import quotes. */
function quotedPath(text: string): string {
  const [, missing, refused] = /Cannot find (?:module|package) '([^']+)'|imports "([^"]+)"/.exec(text) ?? [];
  return missing ?? refused ?? '';
}

/** Line that imports a file of that path. */
function lineOfImport(path: string, source: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const imports = (line: string) => /\b(import|from)\b/.test(line) && line.includes(name);
  return name === '' ? null : lineMatching(source, imports);
}

/** Line of the field with which the text of a definition's problem begins; otherwise that of the export. */
export function lineNaming(source: string, problem: string): number | null {
  const [path = ''] = /^[\w.]+/.exec(problem) ?? [];
  const field = path.slice(path.lastIndexOf('.') + 1);
  const ofField = field && lineMatching(source, (line) => declares(line, field));
  return ofField || lineMatching(source, (line) => /^\s*export\s+default\b/.test(line));
}

/** Whether a line of an object has the field: its name, quoted or not, before `:`, `(` or `,`. */
function declares(line: string, field: string): boolean {
  for (let at = line.indexOf(field); at >= 0; at = line.indexOf(field, at + 1)) {
    const [before = ' ', after = ''] = [line[at - 1], line.slice(at + field.length)];
    const [next = ''] = after.replace(/^['"]/, '').trimStart();
    if (!/[\w.$]/.test(before) && [':', '(', ','].includes(next)) return true;
  }
  return false;
}

function lineMatching(source: string, matches: (line: string) => boolean): number | null {
  const index = source.split('\n').findIndex(matches);
  return index < 0 ? null : index + 1;
}
