import { afterEach, beforeEach, vi } from 'vitest';

/** Standard output and error of each test. Powertools has its own console on standard output. */
export function capturedOutput() {
  const captured = {
    text: '',
    /** All lines. Throws for a line that is not a JSON object. */
    lines: () =>
      captured.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, any>),
  };
  beforeEach(() => {
    captured.text = '';
    const write = (chunk: unknown) => {
      captured.text += String(chunk);
      return true;
    };
    vi.spyOn(process.stdout, 'write').mockImplementation(write as never);
    vi.spyOn(process.stderr, 'write').mockImplementation(write as never);
  });
  afterEach(() => vi.restoreAllMocks());
  return captured;
}
