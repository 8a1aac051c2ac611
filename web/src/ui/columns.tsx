import { ArrowDown, ArrowUp } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from './dialog.tsx';

/** A column that a user may show or hide. */
export interface ColumnChoice {
  readonly key: string;
  readonly title: string;
  /** Longer name, if the title is short. */
  readonly label?: string | undefined;
}

/**
 * Keys of the shown columns in their order, kept in this browser.
 *
 * @param name of the table, unique in the dashboard
 * @param all keys that exist; stored ones that are gone are dropped
 */
export function useShownColumns(
  name: string,
  all: readonly string[],
  defaults: readonly string[],
): readonly [shown: readonly string[], change: (keys: readonly string[] | undefined) => void] {
  const item = `touchstone.columns.${name}`;
  const [chosen, setChosen] = useState(() => storedKeys(item, all));
  const change = (keys: readonly string[] | undefined) => {
    if (keys) localStorage.setItem(item, JSON.stringify(keys));
    else localStorage.removeItem(item);
    setChosen(keys);
  };
  return [chosen ?? defaults, change];
}

function storedKeys(item: string, all: readonly string[]): readonly string[] | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(item) ?? 'null');
    return Array.isArray(stored)
      ? all.filter((key) => stored.includes(key)).sort(byPlaceIn(stored))
      : undefined;
  } catch {
    return undefined;
  }
}

function byPlaceIn(keys: readonly string[]): (a: string, b: string) => number {
  return (a, b) => keys.indexOf(a) - keys.indexOf(b);
}

/**
 * Chooses the columns of a table and their order. A change applies at once.
 * Long because it is the markup of one list: each column with its place and its buttons.
 *
 * @param onChange undefined for the default columns
 */
export function ColumnsDialog(props: {
  readonly columns: readonly ColumnChoice[];
  readonly shown: readonly string[];
  readonly onChange: (keys: readonly string[] | undefined) => void;
  readonly onClose: () => void;
}) {
  const { columns, shown, onChange, onClose } = props;
  // Hidden columns keep their places while the dialog is open: a box that is cleared does not move away.
  const [order, setOrder] = useState(() => ordered(columns, shown));
  const apply = (keys: readonly string[], isShown: (key: string) => boolean) => {
    setOrder(keys);
    onChange(keys.filter(isShown));
  };
  const move = (from: number, to: number) => {
    if (to < 0 || to >= order.length) return;
    const next = order.toSpliced(from, 1).toSpliced(to, 0, order[from]!);
    apply(next, (key) => shown.includes(key));
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <ul className="pad column-choices">
        {order.map((key, index) => {
          const { title, label } = columns.find((each) => each.key === key)!;
          return (
            <li key={key} className="row">
              <label className="check">
                <input
                  type="checkbox"
                  checked={shown.includes(key)}
                  onChange={({ target }) =>
                    apply(order, (each) => (each === key ? target.checked : shown.includes(each)))
                  }
                />
                <span>
                  {title} {label && label !== title && <span className="faint">{label}</span>}
                </span>
              </label>
              <MoveButton
                Icon={ArrowUp}
                label={`Move ${title} up`}
                isOff={index === 0}
                onMove={() => move(index, index - 1)}
              />
              <MoveButton
                Icon={ArrowDown}
                label={`Move ${title} down`}
                isOff={index === order.length - 1}
                onMove={() => move(index, index + 1)}
              />
            </li>
          );
        })}
      </ul>
      <footer className="dialog-foot">
        <button
          type="button"
          className="btn"
          onClick={() => {
            onChange(undefined);
            onClose();
          }}
        >
          Default columns
        </button>
        <button type="button" className="btn primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}

function ordered(columns: readonly ColumnChoice[], shown: readonly string[]): readonly string[] {
  return [...shown, ...columns.map(({ key }) => key).filter((key) => !shown.includes(key))];
}

/** Not `disabled` at an end: the focus would be lost when the column arrives there. */
function MoveButton(props: {
  readonly Icon: typeof ArrowUp;
  readonly label: string;
  readonly isOff: boolean;
  readonly onMove: () => void;
}) {
  const { Icon, label, isOff, onMove } = props;
  return (
    <button
      type="button"
      className="btn small icon"
      aria-label={label}
      aria-disabled={isOff}
      onClick={onMove}
    >
      <Icon aria-hidden="true" />
    </button>
  );
}
