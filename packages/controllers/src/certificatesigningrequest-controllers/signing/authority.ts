/** The authority of a signer, followed as it changes. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Certificate. */
import { errorText, sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { SigningAuthority } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import type { AuthoritySource } from './config.ts'

export class FollowedAuthority {
  readonly #source: AuthoritySource
  readonly #logger: Logger
  #pair: CertificateAndKey
  #authority: SigningAuthority | undefined
  #problem: unknown

  /** Rejects when what the source has cannot be read, or cannot sign: then nothing can be started. */
  static async of(source: AuthoritySource, logger: Logger): Promise<FollowedAuthority> {
    const followed = new FollowedAuthority(source, logger, await source.read())
    followed.current()
    return followed
  }

  private constructor(source: AuthoritySource, logger: Logger, pair: CertificateAndKey) {
    this.#source = source
    this.#logger = logger
    this.#pair = pair
    this.#parse()
  }

  /** Certificate and key of the same version. Throws while the content is bad: nothing old is signed with. */
  current(): SigningAuthority {
    if (this.#authority !== undefined) return this.#authority
    throw new Error(`the certificate authority cannot sign: ${errorText(this.#problem)}`, {
      cause: this.#problem,
    })
  }

  /** Looks again and again until `signal` aborts. */
  async follow(clock: Clock, signal: AbortSignal): Promise<void> {
    const { rereadEveryMs } = this.#source
    if (rereadEveryMs === undefined) return
    while (!signal.aborted) {
      await sleep(clock, rereadEveryMs, signal).catch(() => {})
      if (!signal.aborted) await this.#reread()
    }
  }

  async #reread(): Promise<void> {
    let pair: CertificateAndKey
    try {
      pair = await this.#source.read()
    } catch (error) {
      // A file that is being replaced may be missing for a moment.
      this.#logger.error(error, 'Reading the signing certificate failed, keeping the former one')
      return
    }
    const { certificatePem, privateKeyPem } = this.#pair
    if (pair.certificatePem === certificatePem && pair.privateKeyPem === privateKeyPem) return
    this.#pair = pair
    this.#parse()
    if (this.#authority !== undefined) this.#logger.info('Signing with a changed certificate')
    else this.#logger.error(this.#problem, 'The changed signing certificate cannot be used')
  }

  #parse(): void {
    try {
      this.#authority = new SigningAuthority(this.#pair)
    } catch (error) {
      this.#authority = undefined
      this.#problem = error
    }
  }
}
