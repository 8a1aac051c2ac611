/** A server-sent event, or what a stream says of the time to wait before it is asked for again. */
export interface StreamEvent {
  readonly event?: string;
  readonly id?: number;
  readonly data?: string;
  /** Milliseconds. */
  readonly retry?: number;
}

/** The events of a stream as they come; `onBytes` is told of everything that comes, comments too. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    onBytes();
    const blocks = (rest + decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop()!;
    yield* blocks.map(readBlock);
  }
}

function readBlock(block: string): StreamEvent {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value!);
  }
  const numeric = (name: string) => (fields.has(name) ? { [name]: Number(fields.get(name)) } : {});
  const text = (name: string) => (fields.has(name) ? { [name]: fields.get(name) } : {});
  return { ...text('event'), ...text('data'), ...numeric('id'), ...numeric('retry') };
}
