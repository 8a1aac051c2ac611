/** Sign-in of the dashboard at the pages of an identity provider: authorization code with PKCE. */
interface WebSignIn {
  /** Expected `iss` of the tokens. */
  readonly issuer: string;
  /** Authorization endpoint. */
  readonly authorize: string;
  /** Token endpoint: the page policy allows connections to it. */
  readonly token: string;
  /** Revocation endpoint (RFC 7009), which the policy allows as well. */
  readonly revoke: string;
  /** Page that ends the provider's session. */
  readonly logout: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
}

/** `/config.json`: what differs between platforms. The dashboard's files are the same everywhere. */
export interface WebConfig {
  readonly stage: string;
  readonly version: string;
  readonly exchange: string;
  /** null: the platform has no identity provider with pages; where it enforces authentication, a pasted token signs in. */
  readonly auth: WebSignIn | null;
}
