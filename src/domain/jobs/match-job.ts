import type { JobFacts, JobParams, ListedJobRow } from './job-list-ports.ts';

/** True for a row that passes every filter. */
export function matchesFacts(row: ListedJobRow, facts: JobFacts): boolean {
  const { session, owner, exchange, tag, look_ahead, params = {} } = facts;
  if (session !== undefined && row.session !== session) return false;
  if (owner !== undefined && row.owner !== owner) return false;
  if (exchange !== undefined && row.exchange !== exchange) return false;
  if (tag !== undefined && !row.tags.includes(tag)) return false;
  if (look_ahead !== undefined && row.look_ahead !== look_ahead) return false;
  return Object.entries(params).every(([name, wanted]) =>
    isWritten(parameterOf(row.params, name), String(wanted)),
  );
}

/** Value of a parameter; null for a job without it. */
export function parameterOf(params: JobParams | null, name: string): string | number | boolean | null {
  return params && Object.hasOwn(params, name) ? params[name]! : null;
}

/** True for the text of a value. Numbers compare as numbers: 10.0 and 1e1 are 10. */
function isWritten(value: string | number | boolean | null, text: string): boolean {
  if (typeof value !== 'number') return value !== null && String(value) === text;
  return text.trim() !== '' && Number(text) === value;
}
