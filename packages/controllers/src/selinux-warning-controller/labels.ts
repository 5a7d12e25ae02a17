/** SELinux labels of pods' files. Contract: docs/behaviour/controllers/selinux-warning-controller.md, Sync, step 3 and Compare. Pure. */
import type { SELinuxOptions } from '@gyropilot/api'

/** `user:role:type:level`; nothing is filled in, and nothing at all is the empty label. */
export function fileLabel({ user = '', role = '', type = '', level = '' }: SELinuxOptions): string {
  const label = [user, role, type, level]
  return label.every((part) => part === '') ? '' : label.join(':')
}

/** What is not said of user, role and type fits everything; of the level, only what says nothing either. */
export function labelsConflict(one: string, other: string): boolean {
  const [ofOne, ofOther] = [partsOf(one), partsOf(other)]
  return ofOne.some((part, index) => {
    const its = ofOther[index]
    return part !== its && (index === LEVEL || (part !== '' && its !== ''))
  })
}

const LEVEL = 3

/** A level has colons of its own. */
function partsOf(label: string): readonly string[] {
  const [user = '', role = '', type = '', ...level] = label.split(':')
  return [user, role, type, level.join(':')]
}
