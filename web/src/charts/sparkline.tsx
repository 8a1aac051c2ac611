import './sparkline.css';

/** Curve of a few values in a table cell, 96 by 22 pixels. `summary` says in words what it shows. */
export function Sparkline(props: {
  readonly values: readonly number[] | null;
  readonly summary: string;
  /** Default: `up` if the last value is not below the first one, else `down`. */
  readonly tone?: 'up' | 'down' | 'none';
}) {
  const { values, summary } = props;
  if (!values || values.length < 2) return <svg className="sparkline" aria-hidden="true" />;
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map(
    (value, index) =>
      `${((index / (values.length - 1)) * 96).toFixed(1)},${(20 - ((value - low) / span) * 18).toFixed(1)}`,
  );
  const tone = props.tone ?? (values.at(-1)! >= values[0]! ? 'up' : 'down');
  return (
    <svg className="sparkline" data-tone={tone} viewBox="0 0 96 22" role="img" aria-label={summary}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}
