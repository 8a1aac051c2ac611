/** A line is cut there: what a process prints must not fill the memory of the one that listens. */
const LONGEST_LINE = 65_536;

/** Calls `onLine` with each line of a stream, the last without an end too; very long lines are cut. */
export function forLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = chunk.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop()!.slice(0, LONGEST_LINE);
    for (const line of lines) onLine(line.slice(0, LONGEST_LINE));
  });
  stream.on('end', () => {
    if (rest) onLine(rest);
  });
}
