import { type OperationId, type RequestOf, respond } from './client.ts';

/**
 * Saves the file of an export. A large one is offered at an address: the browser opens it, because the page's policy refuses to
 * fetch from another host.
 *
 * @throws ApiError as `call`
 */
export async function download<I extends OperationId>(id: I, request: RequestOf<I>): Promise<void> {
  const response = await respond(id, request);
  if (response.status === 201) {
    const { url } = (await response.json()) as { readonly url: string };
    location.assign(new URL(url, location.origin));
    return;
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  saveFile(name ?? 'export', await response.blob());
}

/** Lets the browser save a file that the page has. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
