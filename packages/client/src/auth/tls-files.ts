import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import type { TlsMaterial, TlsSource } from '../http-transport/tls-source.ts'
import { refuseNoPair, refuseUnusable } from '../kubeconfig/first-look.ts'
import type { TlsFiles } from '../kubeconfig/rest-config.ts'

/** What became of reading the file of the authorities once more. */
type OnReload = (
  result: 'success' | 'failure',
  reason: 'unchanged' | 'updated' | 'read_error' | 'ca_parse_error',
) => void

/** TLS settings whose files are read again each time they are asked for. `onReload` is not told of the first time. */
export function tlsFromFiles(
  files: TlsFiles,
  host: Pick<HostEnvironment, 'readTextFile'>,
  onReload: OnReload = () => {},
): TlsSource {
  const textOf = async (
    data: string | undefined,
    path: string | undefined,
  ): Promise<string | undefined> => {
    if (data !== undefined || path === undefined) return data
    try {
      return await host.readTextFile(path)
    } catch (error) {
      throw clientErrors.make('CREDENTIALS_UNREADABLE', errorText(error), { cause: error })
    }
  }
  let known: string | undefined
  const told: OnReload = (...outcome) => {
    if (known !== undefined) onReload(...outcome)
  }
  const authorities = async (): Promise<string | undefined> => {
    if (files.caData !== undefined || files.caFile === undefined) {
      refuseUnusable(files.caData)
      return files.caData
    }
    let read = false
    try {
      const ca = await textOf(undefined, files.caFile)
      read = true
      refuseUnusable(ca)
      told('success', ca === known ? 'unchanged' : 'updated')
      known = ca
      return ca
    } catch (error) {
      told('failure', read ? 'ca_parse_error' : 'read_error')
      throw error
    }
  }
  return {
    async load(): Promise<TlsMaterial> {
      const [ca, cert, key] = await Promise.all([
        authorities(),
        textOf(files.certData, files.certFile),
        textOf(files.keyData, files.keyFile),
      ])
      refuseNoPair(cert, key)
      return { ca, cert, key, serverName: files.serverName, insecure: files.insecure }
    },
  }
}
