/** A form that is not sent yet is kept in the storage of its tab: a sign-in leaves the page. */
export const DRAFT_PREFIX = 'touchstone.draft.';

/** Forgets the forms that are not sent, at the end of the session. */
export function dropDrafts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(DRAFT_PREFIX)) sessionStorage.removeItem(key);
  }
}
