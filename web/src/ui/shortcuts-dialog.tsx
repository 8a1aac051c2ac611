import './palette.css';
import { Dialog } from './dialog.tsx';
import { Keys } from './keys.tsx';
import { COMMAND_KEY, PAGES } from './navigation.ts';

/** Keys and what they do, for the list of shortcuts. */
const SHORTCUTS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [[COMMAND_KEY, 'K'], 'Go to a page, a job or a strategy'],
  [['?'], 'List the shortcuts'],
  ...PAGES.map(({ key, name }) => [['G', key.toUpperCase()], name] as const),
  [['T'], 'In a chart or map: its numbers as a table'],
  [['Left', 'Right'], 'In a chart: move; in tabs: select'],
  [['+', '−'], 'In a chart: zoom'],
  [['Up', 'Down'], 'In a table: the row; Enter chooses it'],
  [['N', 'P'], 'In a report: next and previous trade'],
  [['Esc'], 'Close a dialog, show all of a chart'],
];

/** The keys that work on every page, and those of its parts. */
export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="shortcuts pad">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              <Keys names={keys} />
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
