/** Lines are truncated to this length, so that output of another process cannot fill the memory. */
const LONGEST_LINE = 65_536;

/** Calls `onLine` with each line of a stream, including a last line without a line break. Long lines are truncated. */
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
