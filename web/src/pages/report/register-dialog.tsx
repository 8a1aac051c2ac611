import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { webConfig } from '../../api/config.ts';
import { useAction } from '../../api/queries.ts';
import { ActButton, useDenial } from '../../auth/act.tsx';
import { CheckField } from '../../forms/choices.tsx';
import { Form } from '../../forms/form.tsx';
import { NumberField, TextField } from '../../forms/inputs.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { resultText, value } from '../../ui/format.ts';
import type { Job } from './data.ts';

/** Registers the backtest as the next version of its strategy. Long because it is the list of the fields, and the request of their values. */
export function RegisterDialog({ job, onClose }: { readonly job: Job; readonly onClose: () => void }) {
  const register = useAction('registerStrategy', ['listVersions', 'listCatalog', 'getBacktest']);
  const [image, setImage] = useState<string | undefined>(`touchstone:${webConfig().version}`);
  const [description, setDescription] = useState<string>();
  const [tags, setTags] = useState<string>();
  const [minSharpe, setMinSharpe] = useState<number>();
  const [minFactor, setMinFactor] = useState<number>();
  const [maxDrawdown, setMaxDrawdown] = useState<number>();
  const [isSkipped, setSkipped] = useState(false);
  const skipDenial = useDenial('registerStrategy', 'skip_validation');
  const [reason, setReason] = useState<string>();
  const waiveDenial = useDenial('registerStrategy', 'waive');
  const submit = () =>
    register.mutate({
      params: { name: job.strategy },
      body: {
        backtest_run_id: job.job_id,
        container_image_uri: image ?? '',
        ...(description ? { description } : {}),
        ...(tags
          ? {
              tags: tags
                .split(',')
                .map((tag) => tag.trim())
                .filter(Boolean),
            }
          : {}),
        ...(isSkipped ? { skip_validation: true } : {}),
        ...(reason ? { waive: { checks: ['look_ahead'], reason } } : {}),
        thresholds: {
          ...(minSharpe === undefined ? {} : { min_sharpe: minSharpe }),
          ...(minFactor === undefined ? {} : { min_profit_factor: minFactor }),
          ...(maxDrawdown === undefined ? {} : { max_drawdown: maxDrawdown }),
        },
      },
    });
  if (register.data) {
    return (
      <Dialog title="Registered" onClose={onClose}>
        <Registered registered={register.data} onClose={onClose} />
      </Dialog>
    );
  }
  const result = job.result!;
  return (
    <Dialog title={`Register ${job.strategy}`} onClose={onClose}>
      <div className="pad">
        <Form
          label="Registration"
          error={register.error}
          onSubmit={submit}
          actions={
            <ActButton operation="registerStrategy" type="submit" kind="primary" isBusy={register.isPending}>
              Register
            </ActButton>
          }
        >
          <p className="muted">
            Makes the next version of <b>{job.strategy}</b> with the settings, the data range and the metrics
            of this backtest. A version that misses a threshold is not registered.
          </p>
          {job.look_ahead?.state === 'found' && (
            <TextField
              label="Reason to waive look-ahead found"
              path="waive.reason"
              help={waiveDenial}
              value={reason}
              onChange={setReason}
            />
          )}
          <div className="fields">
            <NumberField
              label="Sharpe ratio, at least"
              path="thresholds.min_sharpe"
              help={`This backtest: ${resultText(result, 'sharpe_ratio', 'ratio')}`}
              value={minSharpe}
              onChange={setMinSharpe}
              placeholder="not required"
            />
            <NumberField
              label="Profit factor, at least"
              path="thresholds.min_profit_factor"
              help={`This backtest: ${resultText(result, 'profit_factor', 'ratio')}`}
              value={minFactor}
              onChange={setMinFactor}
              placeholder="not required"
            />
            <NumberField
              label="Max drawdown, at most, %"
              path="thresholds.max_drawdown"
              help={`This backtest: ${value(result.max_drawdown_pct, 'percent')}`}
              value={maxDrawdown}
              onChange={setMaxDrawdown}
              placeholder="not required"
            />
          </div>
          <TextField
            label="Container image"
            path="container_image_uri"
            help="Image that runs the version"
            value={image}
            onChange={setImage}
          />
          <TextField label="Description" path="description" value={description} onChange={setDescription} />
          <TextField label="Tags" path="tags" help="Separated by commas" value={tags} onChange={setTags} />
          <CheckField
            label="Register without comparing the thresholds"
            path="skip_validation"
            help="The version is marked as skipped"
            denial={skipDenial}
            value={isSkipped}
            onChange={setSkipped}
          />
        </Form>
      </div>
    </Dialog>
  );
}

/** The version that was registered. */
function Registered(props: {
  readonly registered: ResponseOf<'registerStrategy'>;
  readonly onClose: () => void;
}) {
  const { registered, onClose } = props;
  const { message, warnings, version, model_name, stage } = registered;
  return (
    <div className="pad stack">
      <p className="notice" data-tone="up" role="status">
        {message}
      </p>
      <dl className="defs">
        <dt>Version</dt>
        <dd>
          {model_name} v{version}
        </dd>
        <dt>Stage</dt>
        <dd>{stage}</dd>
      </dl>
      {warnings.map((warning) => (
        <p key={warning} className="notice" data-tone="warn">
          {warning}
        </p>
      ))}
      <div className="row">
        <Link
          className="btn primary"
          to="/strategies/$name/versions/$version"
          params={{ name: model_name, version }}
        >
          Open version {version}
        </Link>
        <button type="button" className="btn" onClick={onClose}>
          Done
        </button>
      </div>
    </div>
  );
}
