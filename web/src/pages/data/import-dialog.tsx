import { Dialog } from '../../ui/dialog.tsx';
import { CopyButton } from '../../ui/parts.tsx';

const COMMANDS = [
  ['npx --no-install touchstone import candles', 'A folder with files of candles, or one file'],
  ['npx --no-install touchstone import user_data/data/binance', 'A data folder of freqtrade, as it is'],
  [
    'npx --no-install touchstone import downloads',
    'Zips of data.binance.vision, files of Databento, Tardis or TradingView',
  ],
  [
    'npx --no-install touchstone import candles --exchange bybit',
    'For an exchange that the folders do not name',
  ],
] as const;

/** Imports read files of the machine, so they are a command. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Import files" onClose={onClose}>
      <div className="pad stack">
        <p>
          Candles and funding rates are imported on the machine that runs Touchstone, from CSV, Parquet,
          Feather, JSON or zips. The command recognizes each file, and says which it skipped and why. Run one
          of these in its folder:
        </p>
        <ul className="stack">
          {COMMANDS.map(([command, words]) => (
            <li key={command} className="data-command">
              <span className="muted">{words}</span>
              <code>{command}</code>
              <CopyButton text={command} />
            </li>
          ))}
        </ul>
        <p className="muted">
          A file of your own is named like its content, such as <code>BTC_USDT_USDT-5m.csv</code>. It is
          checked as a whole before any of it is stored; what is imported appears here within a minute.
          Imports of <code>sim</code> are rejected.
        </p>
        <p className="muted">
          Formats, names and checks: <code>docs/importing.md</code>
        </p>
      </div>
    </Dialog>
  );
}
