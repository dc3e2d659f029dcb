/* The report page as vite built it (ui/dist is committed: building ACE never needs node). */
    .section .rodata
    .global ace_page_begin
    .global ace_page_end
    .balign 16
ace_page_begin:
    .incbin "report.html"
ace_page_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
