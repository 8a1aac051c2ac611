import type { Run } from './runs.ts';

/** Letter of a run with the look of its curve. */
export function RunMark({ run }: { readonly run: Run }) {
  return (
    <span className="run-mark">
      <i data-color={run.color} data-dashed={run.isDashed || undefined} aria-hidden="true" />
      {run.letter}
    </span>
  );
}
