/** Folder of the uploaded files in the bucket of results. */
export const SIGNALS_PREFIX = 'signals/';

/** Key of the file of a record. */
export const signalsKey = (id: string) => `${SIGNALS_PREFIX}${id}`;
