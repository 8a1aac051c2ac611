import { createContext, useContext } from 'react';
import type { Row } from './data.ts';

/** Dialog of a row. */
export interface RowDialog {
  readonly kind: 'note' | 'delete' | 'cancel';
  readonly row: Row;
}

export interface ListState {
  readonly onDialog: (dialog: RowDialog) => void;
}

/** What cells of the list need of it. Columns are defined outside of components, so cells read it from here. */
export const ListContext = createContext<ListState>({ onDialog: () => {} });

export function useListState(): ListState {
  return useContext(ListContext);
}
