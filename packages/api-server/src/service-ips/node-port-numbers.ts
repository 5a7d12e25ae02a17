/** Which node port each port of one Service is to have, while the ports are walked in order. */
import { unclassified } from '../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'

export class NodePortNumbers {
  readonly #ports: readonly Stored[]
  readonly #isUpdate: boolean
  readonly #byServicePort = new Map<number, number>()
  readonly #seen = new Set<number>()
  readonly #seenByProtocol = new Set<string>()

  constructor(ports: readonly Stored[], isUpdate: boolean) {
    this.#ports = ports
    this.#isUpdate = isUpdate
  }

  /** 0: any. On create, one number serves all protocols of a service port. */
  wantedFor({ port, nodePort }: Stored): number {
    if (nodePort || this.#isUpdate) return nodePort ?? 0
    const asked = this.#ports.find((each) => each.port === port && each.nodePort)
    return this.#byServicePort.get(port) ?? asked?.nodePort ?? 0
  }

  /** Whether an earlier port took the number for this one as well. */
  isOwn({ port, nodePort }: Stored): boolean {
    return this.#isUpdate ? this.#seen.has(nodePort) : this.#byServicePort.get(port) === nodePort
  }

  add({ port, nodePort, protocol }: Stored): void {
    const key = `${protocol} ${nodePort}`
    if (this.#isUpdate && this.#seenByProtocol.has(key))
      throw unclassified(`duplicate nodePort: {${key}}`)
    this.#seenByProtocol.add(key)
    this.#seen.add(nodePort)
    if (!this.#byServicePort.has(port)) this.#byServicePort.set(port, nodePort)
  }
}
