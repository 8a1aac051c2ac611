import { Ban, CheckCircle2, CircleDashed, Copy, Loader, TriangleAlert, XCircle } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { age, localTime, utcDate, utcTime } from './format.ts';
import { useNow } from './now.ts';

const STATUS_ICONS = {
  pending: CircleDashed,
  running: Loader,
  completed: CheckCircle2,
  failed: XCircle,
  cancelled: Ban,
  healthy: CheckCircle2,
  degraded: TriangleAlert,
  unhealthy: XCircle,
} as const;

/** Status of a job or a service by shape, colour and word; lists on small screens show the icon alone. */
export function Status({ status }: { readonly status: string }) {
  const Icon = STATUS_ICONS[status as keyof typeof STATUS_ICONS] ?? CircleDashed;
  return (
    <span className="status" data-status={status}>
      <Icon aria-hidden="true" />
      <span className="status-word">{status}</span>
    </span>
  );
}

/** A time in UTC; the reader's own time on hover. */
export function Time({ at, isDate = false }: { readonly at: string | number; readonly isDate?: boolean }) {
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={localTime(at)}>
      {isDate ? utcDate(at) : `${utcTime(at)} UTC`}
    </time>
  );
}

/** How long ago something was, kept up to date; the time on hover. */
export function Age({ at }: { readonly at: string | number }) {
  const now = useNow(10_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={`${utcTime(at)} UTC, ${localTime(at)}`}>
      {age(at, now)}
    </time>
  );
}

/** Progress between 0 and 1; undefined while it is not known. */
export function Progress({ value, label }: { readonly value: number | undefined; readonly label: string }) {
  return <progress max={1} aria-label={label} {...(value === undefined ? {} : { value })} />;
}

/** Copies a text and says so. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      className="btn small"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Copy aria-hidden="true" /> <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  );
}

/** A section of a page with its heading; `actions` stand at its right. */
export function Panel(props: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly id?: string;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id} {...(props.id ? { 'data-panel': props.id } : {})}>
      <header className="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.actions && <div className="panel-actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  );
}

/** Heading of a page; its title is that of the document as well. */
export function PageHead(props: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${props.title} · Touchstone`;
  }, [props.title]);
  return (
    <header className="page-head">
      <div>
        <h1>{props.title}</h1>
        {props.children}
      </div>
      {props.actions && <div className="page-actions">{props.actions}</div>}
    </header>
  );
}

/**
 * A number with its unit, a second value, and its definition in a popover on hover, focus and tap.
 *
 * @param tone `up` or `down` for a gain or a loss; the value shows its sign
 */
export function Tile(props: {
  readonly label: string;
  readonly value: string;
  readonly sub?: string;
  readonly tone?: 'up' | 'down' | '';
  readonly definition?: string;
  readonly formula?: string;
}) {
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const show = () => popover.current?.showPopover();
  const hide = () => popover.current?.hidePopover();
  return (
    <div
      className="tile-box"
      onPointerEnter={(event) => event.pointerType === 'mouse' && show()}
      onPointerLeave={hide}
    >
      <button
        type="button"
        className="tile"
        popoverTarget={id}
        popoverTargetAction="show"
        onFocus={(event) => event.currentTarget.matches(':focus-visible') && show()}
        onBlur={hide}
      >
        <span className="tile-label">{props.label}</span>
        <span className={`tile-value ${props.tone ?? ''}`}>{props.value}</span>
        <span className="tile-sub">{props.sub ?? ' '}</span>
      </button>
      <div id={id} ref={popover} popover="auto" className="pop" role="note">
        <strong>{props.label}</strong>
        {props.definition && <p className="muted">{props.definition}</p>}
        {props.formula && <code>{props.formula}</code>}
      </div>
    </div>
  );
}
