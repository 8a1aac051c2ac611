import { SelectField } from '../../forms/choices.tsx';
import { NumberField } from '../../forms/inputs.tsx';
import type { Strategy } from '../../forms/start-job.tsx';
import { words } from '../../ui/format.ts';

type Parameters = Strategy['parameters'];
type Values = Readonly<Record<string, unknown>>;

/** A field for each parameter of the strategy, with its default, range and meaning. */
export function ParameterFields(props: {
  readonly parameters: Parameters;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}) {
  const { parameters, values, onChange } = props;
  const names = Object.keys(parameters);
  if (names.length === 0) return <p className="pad muted">The strategy has no parameters.</p>;
  return (
    <div className="fields pad">
      {names.map((name) => (
        <ParameterField
          key={name}
          name={name}
          parameter={parameters[name]!}
          value={values[name]}
          onChange={(value) => onChange({ ...values, [name]: value })}
        />
      ))}
    </div>
  );
}

function ParameterField(props: {
  readonly name: string;
  readonly parameter: Parameters[string];
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const { name, parameter, value, onChange } = props;
  const field = { label: words(name), path: `config.params.${name}` };
  if (parameter.kind === 'choice') {
    return (
      <SelectField
        {...field}
        help={parameter.description}
        value={value === undefined ? undefined : String(value)}
        placeholder={`${parameter.default} (default)`}
        options={parameter.choices.map((each) => ({ value: String(each) }))}
        onChange={(text) => onChange(parameter.choices.find((each) => String(each) === text))}
      />
    );
  }
  const { min, max, description } = parameter;
  return (
    <NumberField
      {...field}
      help={
        <>
          {min} to {max}. {description}
        </>
      }
      {...{ min, max, isInteger: parameter.kind === 'integer' }}
      value={typeof value === 'number' ? value : undefined}
      placeholder={String(parameter.default)}
      onChange={onChange}
    />
  );
}
