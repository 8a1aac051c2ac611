import { type KeyboardEvent, type ReactNode, useRef } from 'react';

export interface TabItem<K extends string> {
  readonly key: K;
  readonly title: string;
}

const PANEL_ID = (key: string) => `tab-panel-${key}`;
const TAB_ID = (key: string) => `tab-${key}`;

/** Tabs; arrow keys, Home and End select. The caller keeps the selected one, usually in the URL. Keys are unique in a page. */
export function Tabs<K extends string>(props: {
  readonly items: readonly TabItem<K>[];
  readonly selected: K;
  readonly onSelect: (key: K) => void;
  readonly label: string;
}) {
  const { items, selected, onSelect, label } = props;
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const now = items.findIndex(({ key }) => key === selected);
    const next = nextIndex(event.key, now, items.length);
    if (next === undefined) return;
    event.preventDefault();
    onSelect(items[next]!.key);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };
  return (
    <div ref={list} className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown} tabIndex={-1}>
      {items.map(({ key, title }) => (
        <button
          key={key}
          type="button"
          role="tab"
          id={TAB_ID(key)}
          aria-selected={key === selected}
          aria-controls={key === selected ? PANEL_ID(key) : undefined}
          tabIndex={key === selected ? 0 : -1}
          onClick={() => onSelect(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function nextIndex(key: string, now: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (now + 1) % count;
  if (key === 'ArrowLeft') return (now + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** Content of the selected tab. */
export function TabPanel(props: {
  readonly selected: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <div
      role="tabpanel"
      id={PANEL_ID(props.selected)}
      aria-labelledby={TAB_ID(props.selected)}
      className={props.className}
    >
      {props.children}
    </div>
  );
}
