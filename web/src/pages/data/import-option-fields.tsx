import { CALENDAR_NAMES } from '#contract/values/calendars.ts';
import type { RequestOf } from '../../api/client.ts';
import { TIMEFRAMES } from '../../charts/coverage.ts';
import { CheckField, SelectField } from '../../forms/choices.tsx';
import { TextField } from '../../forms/inputs.tsx';

/** Statements of the user on the files. */
export type Options = NonNullable<RequestOf<'previewImport'>['body']>;

const optionsOf = (values: readonly string[]) => values.map((value) => ({ value }));
/** Of an option; the reference has the same. */
const MAX_LENGTH = 10_000;

/**
 * What the files do not say. Labels have the names of the command's options, which reasons of the importer use. Long because it is the list
 * of the fields.
 */
export function ImportOptionFields(props: {
  readonly options: Options;
  readonly onChange: (fields: { readonly [K in keyof Options]?: Options[K] | undefined }) => void;
}) {
  const { options, onChange } = props;
  const text = (field: 'exchange' | 'symbols' | 'columns' | 'time_zone') => ({
    path: field,
    value: options[field],
    maxLength: MAX_LENGTH,
    onChange: (value: string | undefined) => onChange({ [field]: value }),
  });
  return (
    <div className="fields">
      <TextField
        label="Exchange (--exchange)"
        placeholder="By the files"
        help="Such as binanceusdm, kraken or xnas"
        {...text('exchange')}
      />
      <TextField
        label="Symbols (--symbols)"
        placeholder="By the files"
        help="BTC/USDT, or NAME=BTC/USDT for a series NAME of a file"
        {...text('symbols')}
      />
      <SelectField
        label="Timeframe (--timeframe)"
        path="timeframe"
        placeholder="By name or rows"
        options={optionsOf(TIMEFRAMES)}
        value={options.timeframe}
        onChange={(timeframe) => onChange({ timeframe })}
      />
      <TextField
        label="Columns (--columns)"
        placeholder="By their names"
        help="time=when,volume=traded, or by number: time=1"
        {...text('columns')}
      />
      <TextField
        label="Time zone (--time-zone)"
        placeholder="UTC"
        help="Of times that state none: Europe/Athens, UTC-5"
        {...text('time_zone')}
      />
      <SelectField
        label="Calendar (--calendar)"
        path="calendar"
        placeholder="Found in the candles"
        options={optionsOf(CALENDAR_NAMES)}
        value={options.calendar}
        onChange={(calendar) => onChange({ calendar })}
      />
      <CheckField
        label="Spot (--spot)"
        path="spot"
        help="Names such as BTCUSDT are spot pairs"
        value={options.spot ?? false}
        onChange={(spot) => onChange({ spot: spot || undefined })}
      />
      <CheckField
        label="Skip invalid rows (--skip-invalid)"
        path="skip_invalid"
        help="They are counted; otherwise one rejects its file"
        value={options.skip_invalid ?? false}
        onChange={(skip) => onChange({ skip_invalid: skip || undefined })}
      />
    </div>
  );
}
