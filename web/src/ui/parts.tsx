import { Ban, Check, CheckCircle2, CircleDashed, Copy, Loader, TriangleAlert, XCircle } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { ResponseOf } from '../api/client.ts';
import { age, localTime, utcDate, utcSeconds, utcTime } from './format.ts';
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
export function Time(props: {
  readonly at: string | number;
  readonly isDate?: boolean;
  readonly hasSeconds?: boolean;
}) {
  const { at, isDate, hasSeconds } = props;
  return (
    <time dateTime={new Date(at).toISOString()} title={localTime(at)}>
      {isDate ? utcDate(at) : `${hasSeconds ? utcSeconds(at) : utcTime(at)} UTC`}
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

/**
 * Copies a text and says so.
 *
 * @param text a function for one that is known when the button is pressed
 */
export function CopyButton(props: {
  readonly text: string | (() => string);
  readonly label?: string;
  readonly kind?: 'small' | 'plain';
  readonly Icon?: typeof Copy;
}) {
  const { text, label = 'Copy', kind = 'small' } = props;
  const [said, say] = useState<'Copied' | 'Not copied'>();
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => say(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const Icon = said === 'Copied' ? Check : (props.Icon ?? Copy);
  // A browser may refuse it.
  const copy = () =>
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => say('Copied'),
      () => say('Not copied'),
    );
  return (
    <button type="button" className={`btn ${kind}`} onClick={() => void copy()}>
      <Icon aria-hidden="true" />{' '}
      <span className="word" aria-live="polite">
        {said ?? label}
      </span>
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
  readonly value: ReactNode;
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
        <span className="tile-sub">{props.sub ?? '\u00a0'}</span>
      </button>
      <div id={id} ref={popover} popover="auto" className="pop" role="note">
        <strong>{props.label}</strong>
        {props.definition && <p className="muted">{props.definition}</p>}
        {props.formula && <code>{props.formula}</code>}
      </div>
    </div>
  );
}

/** State of the look-ahead bias check of a run; null or undefined: it has not completed. */
export type LookAheadState = ResponseOf<'listBacktests'>['items'][number]['look_ahead'] | undefined;

/** A figure of a run; struck through where look-ahead bias was found. */
export function Figure({
  state,
  children,
}: {
  readonly state: LookAheadState;
  readonly children: ReactNode;
}) {
  return state === 'found' ? (
    <s className="muted">
      <span className="sr">cannot be earned: </span>
      {children}
    </s>
  ) : (
    children
  );
}

/** Red mark of a run with a found leak; nothing for another one. */
export function FoundMark({ state }: { readonly state: LookAheadState }) {
  return (
    state === 'found' && (
      <span className="badge" data-tone="down">
        look-ahead found
      </span>
    )
  );
}
