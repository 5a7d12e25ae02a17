/** Makes a running cluster known to the other commands, and to kubectl when that is asked for; takes it all back. */
import { resolve } from 'node:path'
import { errorText, fileProblem, formatTime } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { mergeInto, mergeTarget } from '../kubeconfig/merge.ts'
import { forgetLeft, leave } from '../running/leave.ts'
import { processIdentity } from '../running/process-identity.ts'
import { ClusterRegistry } from '../running/registry.ts'
import { clusterName } from '../running/running-cluster.ts'
import type { RunningCluster } from '../running/running-cluster.ts'
import { VERSION } from '../version.ts'
import { LOG_VARIABLE, isDetached } from './place.ts'
import type { BannerFacts } from './terminal.ts'
import type { UpOptions } from './up-options.ts'

interface RegistrationOptions {
  readonly args: readonly string[]
  readonly options: UpOptions
  readonly clock: Clock
  /** Default: that of this user. */
  readonly registry?: ClusterRegistry
}

export class Registration {
  readonly #args: readonly string[]
  readonly #options: UpOptions
  readonly #clock: Clock
  readonly #registry: ClusterRegistry
  #registering: Promise<BannerFacts> | undefined

  constructor({ args, options, clock, registry = ClusterRegistry.ofUser() }: RegistrationOptions) {
    this.#args = args
    this.#options = options
    this.#clock = clock
    this.#registry = registry
  }

  /** What clusters left that were killed. */
  async forgetThoseLeft(): Promise<void> {
    await forgetLeft(this.#registry, this.#clock)
  }

  /** Answers the facts with what became of it; fails when the cluster was to be merged and cannot be. `keyFiles` go with it. */
  ready(facts: BannerFacts, keyFiles: readonly string[] = []): Promise<BannerFacts> {
    this.#registering = this.#register(facts, keyFiles)
    return this.#registering
  }

  async #register(facts: BannerFacts, keyFiles: readonly string[]): Promise<BannerFacts> {
    const log = isDetached() ? process.env[LOG_VARIABLE] : undefined
    const others = this.#registry.running()
    const cluster = this.#cluster(facts, log, others)
    const merged = this.#options.mergeKubeconfig ? mergeTarget(cluster.kubeconfig) : undefined
    if (merged !== undefined) await mergeInto(merged, cluster, this.#clock)
    const notes = [...facts.notes]
    let isKnown = true
    const here = others.filter(({ folder }) => folder === cluster.folder)
    if (here.length > 0 && facts.notes.length === 0)
      notes.push(
        `another cluster runs in this folder, process ${here.map(({ processId }) => processId).join(', ')}: see gyro status`,
      )
    try {
      this.#registry.write({
        ...cluster,
        ...(merged === undefined ? {} : { merged }),
        ...(keyFiles.length === 0 ? {} : { keyFiles: keyFiles.map((file) => resolve(file)) }),
      })
    } catch (error) {
      const remedy = 'set XDG_STATE_HOME to a folder that this user may write'
      notes.push(
        `gyro status and gyro down will not find this cluster: ${fileProblem(error)}: ${remedy}`,
      )
      isKnown = false
    }
    const answered: BannerFacts = {
      ...facts,
      notes,
      ...(log === undefined ? {} : { log }),
      ...(isKnown ? {} : { unknownProcess: process.pid }),
      ...(merged === undefined ? {} : { merged: { file: merged, context: cluster.name } }),
    }
    await tellParent(answered)
    return answered
  }

  /** Whatever was asked for since: `gyro kubeconfig --merge` may have come later. What is under way is waited for. */
  async end(): Promise<void> {
    await this.#registering?.catch(() => {})
    const cluster = this.#registry.of(process.pid)
    if (cluster === undefined) return
    try {
      await leave(cluster, this.#registry, this.#clock)
    } catch (error) {
      process.stderr.write(`gyro: ${errorText(error)}\n`)
    }
  }

  #cluster(
    { server, kubeconfig, parts, dataDir }: BannerFacts,
    log: string | undefined,
    others: readonly RunningCluster[],
  ): RunningCluster {
    const folder = process.cwd()
    return {
      name: clusterName(folder, new URL(server).port, others),
      processId: process.pid,
      processIdentity: processIdentity(process.pid) ?? '',
      folder,
      args: this.#args,
      since: formatTime(this.#clock.nowMs()),
      version: VERSION,
      server,
      kubeconfig: kubeconfig === '' ? '' : resolve(kubeconfig),
      ...(dataDir === undefined ? {} : { dataDir: dataDir === '' ? '' : resolve(dataDir) }),
      parts,
      ...(log === undefined ? {} : { log }),
    }
  }
}

/** `gyro up --detach` waits for it; whether it still does makes no difference. */
async function tellParent(facts: BannerFacts): Promise<void> {
  const send = process.send?.bind(process)
  if (send === undefined || !isDetached()) return
  await new Promise<void>((done) => send(facts, undefined, {}, () => done()))
  if (process.connected) process.disconnect?.()
}
