/** Asks the NetworkPolicies of the cluster whether a connection may be made. */
import { resources } from '@gyropilot/api'
import type { NetworkPolicy, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { orMissing } from '../container/missing.ts'
import { isAllowed } from './network-policies.ts'
import type { Protocol } from '../shell/network.ts'
import type { Party } from './network-policies.ts'

const DNS_PORT = 53

/** The cluster's DNS as policies know it: it is no pod here, and has these labels everywhere else. */
function dnsPod(address: string): Pod {
  return {
    metadata: { namespace: 'kube-system', name: 'kube-dns', labels: { 'k8s-app': 'kube-dns' } },
    spec: {
      containers: [
        { name: 'dns', ports: [{ name: 'dns', containerPort: DNS_PORT, protocol: 'UDP' }] },
      ],
    },
    status: { podIPs: [{ ip: address }] },
  }
}

export class PolicyGate {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Whether a pod may connect to a pod at a port of it. */
  async allows(from: Pod, to: Pod, port: number, protocol: Protocol): Promise<boolean> {
    const namespaces = [...new Set([namespaceOf(from), namespaceOf(to)])]
    const policies = (await Promise.all(namespaces.map((each) => this.#policiesOf(each)))).flat()
    if (policies.length === 0) return true
    const parties = [await this.#party(from), await this.#party(to)] as const
    return isAllowed(policies, { from: parties[0], to: parties[1], port, protocol })
  }

  /** Whether its questions reach the DNS server at that address. */
  allowsNames(from: Pod, resolver: string): Promise<boolean> {
    return this.allows(from, dnsPod(resolver), DNS_PORT, 'UDP')
  }

  async #policiesOf(namespace: string): Promise<readonly NetworkPolicy[]> {
    return (await this.#client.resource(resources.networkpolicies, namespace).list()).items
  }

  async #party(pod: Pod): Promise<Party> {
    const found = this.#client.resource(resources.namespaces).get(namespaceOf(pod))
    return { pod, namespaceLabels: (await orMissing(found))?.metadata?.labels ?? {} }
  }
}

function namespaceOf({ metadata }: Pod): string {
  return metadata?.namespace ?? ''
}
