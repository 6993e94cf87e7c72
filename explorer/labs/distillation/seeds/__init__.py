"""What the chosen student's teacher is worth over several seeds, above the curves of one."""
