import { errorText, silentLogger } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import type { Credentials } from './credentials.ts'

const READ_AGAIN_AFTER_MS = 50_000

/**
 * A token in a file that somebody rotates. Read again after 50 s and after a 401; a file that cannot be read leaves the old
 * token in use, unless it was refused.
 */
export class TokenFile implements Credentials {
  readonly #path: string
  readonly #host: Pick<HostEnvironment, 'readTextFile'>
  readonly #clock: Clock
  readonly #logger: Logger
  #token: string | undefined
  #readMs = 0
  #reading: Promise<void> | undefined

  constructor(
    path: string,
    host: Pick<HostEnvironment, 'readTextFile'>,
    clock: Clock,
    logger: Logger = silentLogger,
  ) {
    this.#path = path
    this.#host = host
    this.#clock = clock
    this.#logger = logger
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const due =
      this.#token === undefined || this.#clock.monotonicMs() - this.#readMs >= READ_AGAIN_AFTER_MS
    if (due) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
      await this.#reading
    }
    return { authorization: `Bearer ${this.#token}` }
  }

  /** The server refused this token: the file may hold a newer one. A token that was read meanwhile is left alone. */
  rejected(headers: Readonly<Record<string, string | readonly string[]>>): void {
    if (headers['authorization'] === `Bearer ${this.#token}`) this.#token = undefined
  }

  async #read(): Promise<void> {
    try {
      const token = (await this.#host.readTextFile(this.#path)).trim()
      if (token === '') throw new Error(`read empty token from file ${JSON.stringify(this.#path)}`)
      this.#token = token
      this.#readMs = this.#clock.monotonicMs()
    } catch (error) {
      if (this.#token === undefined) {
        throw clientErrors.make('CREDENTIALS_UNREADABLE', errorText(error), { cause: error })
      }
      this.#logger.error(error, 'Unable to rotate token')
    }
  }
}
