/** `ip link`: network interfaces of a container are made and taken away by who may. Nothing is kept of them. */
import type { Command } from '../shell/process.ts'
import { NET_ADMIN, statusField } from './process-status.ts'

const REFUSED_EXIT_CODE = 2

export const ip: Command = async (task) => {
  const { args, place, err } = task
  const [object = '', action = '', name, ...more] = args
  const adds = action === 'add' && more[0] === 'type' && more[1] !== undefined
  const removes = /^del(?:ete)?$/.test(action) && more.length === 0
  if (object !== 'link' || name === undefined || !(adds || removes)) {
    place.onUnknown?.(`ip ${args.join(' ')}`)
    await err('ip: simulated containers know ip link add NAME type TYPE, and ip link del NAME\n')
    return 1
  }
  const effective = BigInt(`0x${await statusField(task, 'CapEff')}`)
  if ((effective & NET_ADMIN) !== 0n) return 0
  await err('ip: RTNETLINK answers: Operation not permitted\n')
  return REFUSED_EXIT_CODE
}
