interface CursorKeyEnv {
  readonly REGISTRY_TABLE: string;
  readonly DYNAMODB_ENDPOINT?: string | undefined;
}

/** Key of the cursors of the deployed backend and strategy service. Its module is loaded at the first page that needs it. */
export function openCursorKey(env: CursorKeyEnv): () => Promise<Uint8Array> {
  let read: (() => Promise<Uint8Array>) | undefined;
  return async () => {
    if (!read) {
      const [{ createDocumentClient }, { storedCursorKey }] = await Promise.all([
        import('./client.ts'),
        import('./cursor-key.ts'),
      ]);
      const client = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
      read ??= storedCursorKey(client, 'registry', env.REGISTRY_TABLE);
    }
    return read();
  };
}
