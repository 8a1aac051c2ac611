import { lazy } from '#domain/shared/lazy.ts';

interface CursorKeyEnv {
  readonly REGISTRY_TABLE: string;
  readonly DYNAMODB_ENDPOINT?: string | undefined;
}

/** Key of the cursors of the deployed backend and strategy service. Its module is loaded at the first page that needs it. */
export function openCursorKey(env: CursorKeyEnv): () => Promise<Uint8Array> {
  const { read } = lazy(async () => {
    const [{ createDocumentClient }, { storedCursorKey }] = await Promise.all([
      import('./client.ts'),
      import('./cursor-key.ts'),
    ]);
    const client = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
    return { read: storedCursorKey(client, 'registry', env.REGISTRY_TABLE) };
  });
  return read;
}
