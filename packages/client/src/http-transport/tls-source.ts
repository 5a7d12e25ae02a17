/** What a TLS connection to an API server is made with. PEM texts. */
export interface TlsMaterial {
  /** Authorities to trust instead of the machine's. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** Name to ask for and to check instead of the host of the address. */
  readonly serverName?: string
  /** Do not check the server's certificate. */
  readonly insecure?: boolean
}

/** Material that may change: files that are rotated, an exec plug-in. Asked before each dial and every 5 minutes of use. */
export interface TlsSource {
  load(): Promise<TlsMaterial>
  /** Calls `listener` when the material is known to have changed. */
  onChange?(listener: () => void): void
}

/** Material that never changes. */
export function staticTls(material: TlsMaterial): TlsSource {
  return { load: () => Promise.resolve(material) }
}
