import { TriangleAlert } from 'lucide-react';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../api/client.ts';
import { errorOfField, errorsWithoutField, type FieldErrors } from './errors.ts';

interface FormState {
  readonly errors: FieldErrors;
  readonly fields: ReadonlySet<string>;
  /** Shows errors of `path` at the caller until the returned function is called. */
  readonly show: (path: string) => () => void;
}

const CONTROL = ':is(input, select, textarea, button)';
const NO_ERRORS: FieldErrors = {};
const FormContext = createContext<FormState>({ errors: NO_ERRORS, fields: new Set(), show: () => () => {} });

/** Message of the API about the field at a dotted path of the request. */
export function useFieldError(path: string): string | undefined {
  const { errors, fields, show } = useContext(FormContext);
  useEffect(() => show(path), [show, path]);
  return errorOfField(errors, path, fields);
}

/**
 * A form whose fields show the errors of the API by dotted path. Errors without a field, and those that name none, are listed above
 * the buttons. After a rejection, and when a field is not valid, the focus goes to the first invalid field.
 *
 * @param error of the last submission, null if there is none
 */
export function Form(props: {
  readonly label: string;
  readonly error: Error | null;
  readonly onSubmit: () => void;
  readonly actions: ReactNode;
  readonly children: ReactNode;
}) {
  const { error } = props;
  const form = useRef<HTMLFormElement>(null);
  const [fields, setFields] = useState<ReadonlySet<string>>(() => new Set());
  const errors = error instanceof ApiError ? error.fields : NO_ERRORS;
  const show = useCallback((path: string) => {
    setFields((before) => new Set(before).add(path));
    return () => setFields((before) => new Set([...before].filter((each) => each !== path)));
  }, []);
  const state = useMemo<FormState>(() => ({ errors, fields, show }), [errors, fields, show]);
  useEffect(() => {
    if (error) focusFirst(form.current!, `[data-invalid] ${CONTROL}, .form-error`);
  }, [error]);
  return (
    <FormContext value={state}>
      <form
        ref={form}
        className="stack"
        aria-label={props.label}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (event.currentTarget.checkValidity()) props.onSubmit();
          else focusFirst(event.currentTarget, `${CONTROL}:invalid`);
        }}
      >
        {props.children}
        {error && <FormError error={error} />}
        <div className="row">{props.actions}</div>
      </form>
    </FormContext>
  );
}

function focusFirst(form: HTMLFormElement, selector: string): void {
  form.querySelector<HTMLElement>(selector)?.focus();
}

/** A rejection that no shown field explains, or the hint to look at the fields. */
function FormError({ error }: { readonly error: Error }) {
  const { errors, fields } = useContext(FormContext);
  const rest = errorsWithoutField(errors, fields);
  const isAtField = Object.keys(errors).length > 0 && rest.length === 0;
  const api = error instanceof ApiError && error.status > 0 ? error : undefined;
  return (
    <div className="notice form-error" data-tone="down" role="alert" tabIndex={-1}>
      <TriangleAlert aria-hidden="true" />
      <div className="stack tight">
        {isAtField ? (
          <span>Not sent yet: change the fields marked above.</span>
        ) : rest.length > 0 ? (
          rest.map(([path, message]) => (
            <span key={path}>
              <code>{path}</code>: {message}
            </span>
          ))
        ) : (
          <span>{error.message}</span>
        )}
        {api && (
          <span className="muted">
            <code>{api.code}</code>
            {api.correlationId && (
              <>
                {' '}
                · correlation id <code>{api.correlationId}</code>
              </>
            )}
          </span>
        )}
      </div>
    </div>
  );
}
