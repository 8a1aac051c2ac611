import { createContext, useContext } from 'react';
import type { Row } from './data.ts';

/** Dialog of a row. */
export interface RowDialog {
  readonly kind: 'note' | 'delete' | 'cancel';
  readonly row: Row;
}

export interface ListState {
  /** Ids that are picked for a comparison. */
  readonly picked: readonly string[];
  readonly onPick: (id: string) => void;
  readonly onDialog: (dialog: RowDialog) => void;
}

/** What cells of the list need of it. Columns are defined outside of components, so cells read it from here. */
export const ListContext = createContext<ListState>({ picked: [], onPick: () => {}, onDialog: () => {} });

export function useListState(): ListState {
  return useContext(ListContext);
}
