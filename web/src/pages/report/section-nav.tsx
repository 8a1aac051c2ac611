import { type ReactNode, useEffect, useState } from 'react';

/** A part of the report that the navigation leads to. */
export function Section(props: { readonly id: string; readonly children: ReactNode }) {
  return (
    <div id={`report-${props.id}`} className="report-section" tabIndex={-1}>
      {props.children}
    </div>
  );
}

/** Sections in the order of the page. */
const SECTIONS = [
  ['figures', 'Figures'],
  ['equity', 'Equity'],
  ['trades', 'Trades'],
  ['groups', 'Groups'],
  ['costs', 'Drawdowns and costs'],
  ['robustness', 'Robustness'],
  ['provenance', 'Provenance'],
] as const;

/** Links to the sections, in view wherever the page is; the one in the middle of the window is marked. */
export function SectionNav({ without }: { readonly without: readonly string[] }) {
  const [current, setCurrent] = useState<string>(SECTIONS[0][0]);
  const shown = SECTIONS.filter(([id]) => !without.includes(id));
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => {
        const entered = entries.find(({ isIntersecting }) => isIntersecting);
        if (entered) setCurrent(entered.target.id.replace('report-', ''));
      },
      { rootMargin: '-45% 0px -55%' },
    );
    for (const section of document.querySelectorAll('.report-section')) watcher.observe(section);
    return () => watcher.disconnect();
  }, []);
  return (
    <nav className="report-nav" aria-label="Sections">
      {shown.map(([id, name]) => (
        <a
          key={id}
          href={`#report-${id}`}
          aria-current={current === id ? 'location' : undefined}
          onClick={(event) => {
            // The address keeps the state of the report, without a place in it.
            event.preventDefault();
            const section = document.getElementById(`report-${id}`);
            section?.scrollIntoView();
            section?.focus({ preventScroll: true });
          }}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}
