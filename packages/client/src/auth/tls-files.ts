import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import type { TlsMaterial, TlsSource } from '../http-transport/tls-source.ts'
import { refuseNoPair, refuseUnusable } from '../kubeconfig/first-look.ts'
import type { TlsFiles } from '../kubeconfig/rest-config.ts'

/** TLS settings whose files are read again each time they are asked for. */
export function tlsFromFiles(
  files: TlsFiles,
  host: Pick<HostEnvironment, 'readTextFile'>,
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
  return {
    async load(): Promise<TlsMaterial> {
      const [ca, cert, key] = await Promise.all([
        textOf(files.caData, files.caFile),
        textOf(files.certData, files.certFile),
        textOf(files.keyData, files.keyFile),
      ])
      refuseUnusable(ca)
      refuseNoPair(cert, key)
      return { ca, cert, key, serverName: files.serverName, insecure: files.insecure }
    },
  }
}
