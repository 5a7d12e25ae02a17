/** What a manager finds around it, apart from its flags. */
import type {
  Clock,
  HostEnvironment,
  Logger,
  MetricsRegistry,
  RandomSource,
} from '@gyropilot/foundation'
import type { HostFolders } from './options/controllers-configuration.ts'
import type { Verbosity } from './options/verbosity.ts'
import type { Answer, IncomingRequest } from './serving/request.ts'

export interface AppWorld {
  readonly host: HostEnvironment
  readonly hostname: string
  /** Of this process; IANA name. */
  readonly localTimeZone: string
  /** Of this machine. Absent: none may be made or removed. */
  readonly hostFolders?: HostFolders
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Behind `logger`. */
  readonly verbosity: Verbosity
  readonly platform: { readonly os: string; readonly arch: string }
  /** `v1.36.2` */
  readonly version: string
  readonly commit: string
  /** Of Node. */
  readonly runtimeVersion: string
  /** Adds what the process itself tells: time, memory, files, how long turns are; to `slis` since when it runs. Absent: several managers share a process. */
  exposeProcess?(metrics: MetricsRegistry, slis: MetricsRegistry): void
  /** Opens the HTTPS port; returns how to close it. */
  serve(pages: ServedPages): Promise<() => void>
}

export interface ServedPages {
  answer(request: IncomingRequest): Promise<Answer>
  /** The authorities of client certificates in PEM, read anew; asked from time to time. */
  authorities(): Promise<string>
}
